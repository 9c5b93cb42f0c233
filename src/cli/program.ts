import { type Command, CommanderError } from 'commander';
import { type Bind, summarise } from '../commands/binding.ts';
import type { ProgramFor } from '../commands/completion/complete.ts';
import { addGlobals } from '../commands/global-options.ts';
import type { Io } from '../host/io.ts';
import { version } from '../version.ts';
import { Misuse, nameOf, OwnCommand } from './command.ts';

interface Group {
  summary: string;
  /** Loads what gives the group its commands and options. */
  load(): Promise<(group: Command, bind: Bind, programFor: ProgramFor) => void>;
}

/** The first word of every command. Only the group that is called is loaded. */
const groups: Readonly<Record<string, Group>> = {
  run: {
    summary: 'trigger, wait for, show and cancel test runs',
    load: async () => (await import('../commands/run/define.ts')).defineRun,
  },
  init: {
    summary: 'write .rungate.json and a pipeline',
    load: async () => (await import('../commands/init/define.ts')).defineInit,
  },
  orders: {
    summary: 'read orders, and add them up exactly',
    load: async () => (await import('../commands/endpoints/define.ts')).defineOrders,
  },
  keys: {
    summary: 'create and delete API keys',
    load: async () => (await import('../commands/endpoints/define.ts')).defineKeys,
  },
  env: {
    summary: 'environments and their variables',
    load: async () => (await import('../commands/endpoints/define.ts')).defineEnv,
  },
  observations: {
    summary: 'what exploration has found',
    load: async () => (await import('../commands/endpoints/define.ts')).defineObservations,
  },
  webhooks: {
    summary: 'webhooks, their secrets and deliveries',
    load: async () => (await import('../commands/webhooks/define.ts')).defineWebhooks,
  },
  config: {
    summary: 'settings, where they come from, your profile',
    load: async () => (await import('../commands/config/define.ts')).defineConfig,
  },
  login: {
    summary: 'keep an API key or a token in your profile',
    load: async () => (await import('../commands/config/define.ts')).defineLogin,
  },
  logout: {
    summary: 'remove secrets from your profile',
    load: async () => (await import('../commands/config/define.ts')).defineLogout,
  },
  api: {
    summary: 'call any path of the service',
    load: async () => (await import('../commands/endpoints/define.ts')).defineApiCommand,
  },
  doctor: {
    summary: 'say what works, and what to do about the rest',
    load: async () => (await import('../commands/doctor/define.ts')).defineDoctor,
  },
  mock: {
    summary: 'a mock of the service, for trying and testing',
    load: async () => (await import('../commands/mock/define.ts')).defineMock,
  },
  selftest: {
    summary: 'run a pipeline step against every outcome',
    load: async () => (await import('../commands/selftest/define.ts')).defineSelftest,
  },
  completion: {
    summary: 'print a script that completes in your shell',
    load: async () => (await import('../commands/completion/define.ts')).defineCompletion,
  },
};

const about = `Trigger a test run, wait for it, and gate the pipeline on its verdict.
For first steps, run rungate without a command.`;

const exitTable = `
Exit codes: 0 passed · 1 failed · 2 blocked · 3 timeout · 4 cancelled (--strict)
  5 service error · 6 credentials · 7 unreachable · 64 usage · 70 bug
  78 configuration · 129, 130, 143 stopped by SIGHUP, SIGINT, SIGTERM`;

/** What commander has to say: help and versions for stdout, mistakes as errors of ours. */
export interface Spoken {
  text: string;
}

/** Every command, with what `argv` calls loaded. Subcommands are made by `.command()`, so that they inherit. */
export async function createProgram(argv: readonly string[], bind: Bind, spoken: Spoken): Promise<Command> {
  const program = new OwnCommand('rungate')
    .description(about)
    .enablePositionalOptions()
    .configureHelp({
      // The longest of our flags leaves 33 columns for what it does.
      minWidthToWrap: 30,
      // What a command takes is in its own help: here it would leave no room for what the command does.
      subcommandTerm: (command) => command.name(),
      commandUsage: usageOf,
    })
    .showSuggestionAfterError(false)
    .addHelpText('after', exitTable)
    .configureOutput({
      writeOut: (text) => {
        spoken.text += text;
      },
      writeErr: () => {},
    })
    .exitOverride();
  addGlobals(program).version(version, '--version', 'show the version');
  const [called = ''] = wordsOf(program, argv);
  const isGroup = Object.hasOwn(groups, called);
  for (const [name, { summary, load }] of Object.entries(groups)) {
    // Where one is called, the others would be made for nothing, at the cost of all that it does before its work.
    if (isGroup && name !== called) continue;
    const group = summarise(program.command(name), summary).enablePositionalOptions();
    if (!argv.includes(name)) continue;
    (await load())(group, bind, unboundProgram);
    addGlobals(group);
  }
  return program;
}

/** The words that are neither global options nor their values. */
function wordsOf(program: Command, argv: readonly string[]): string[] {
  const isValue = (at: number) =>
    program.options.some(({ short, long, required }) => required && [short, long].includes(argv[at - 1]));
  return argv.filter((word, at) => !word.startsWith('-') && (at === 0 || !isValue(at)));
}

const subcommand = (command: Command, word: string) => command.commands.find((one) => one.name() === word);

/** What `help run trigger` or `run help trigger` asks about: the words of a command. Null if it is no question. */
function helpTopic(program: Command, argv: readonly string[]): string[] | null {
  const words = wordsOf(program, argv);
  let command: Command | undefined = program;
  for (const [at, word] of words.entries()) {
    // An argument may be called "help" too.
    if (command === undefined || command.commands.length === 0) return null;
    if (word === 'help') return words.filter((one, index) => index < at || one !== 'help');
    command = subcommand(command, word);
  }
  return null;
}

function showHelp(program: Command, topic: readonly string[]): void {
  const found = topic.reduce((command, word) => {
    return subcommand(command, word) ?? command.error(`unknown command '${word}'`);
  }, program);
  found.outputHelp();
}

/** Behind `Usage: `, in 80 columns: where it is too much for a line, the arguments stand in the first. */
function usageOf(command: Command): string {
  const usage = `${nameOf(command)} ${command.usage()}`;
  if (usage.length <= 73) return usage;
  return `${usage.replace(' [options]', '')}\n         [options]`;
}

/** Runs what the words call. Returns when it has ended; mistakes in the words are usage errors. */
export async function parse(
  program: Command,
  argv: readonly string[],
  spoken: Spoken,
  io: Io,
): Promise<void> {
  try {
    const topic = helpTopic(program, argv);
    if (topic !== null) return showHelp(program, topic);
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    // Help or the version was shown.
    if (error instanceof CommanderError) return;
    if (!(error instanceof Misuse)) throw error;
    spoken.text = '';
    if (error.command === program && error.code === 'missingCommand') {
      throw await (await import('../commands/init/first-steps.ts')).nothingAsked(io, program.opts());
    }
    throw await (await import('./spelling.ts')).explain(error, argv, everyCommand);
  }
}

/** The program with all of its groups loaded: to look for a command wherever it may be. Nothing of it is run. */
export const everyCommand = (): Promise<Command> => unboundProgram(['help', ...Object.keys(groups)]);

/** A program of which nothing is run. */
function unboundProgram(argv: readonly string[]): Promise<Command> {
  return createProgram(argv, (command) => void addGlobals(command), { text: '' });
}
