import { Command, CommanderError } from 'commander';
import type { Bind } from '../commands/binding.ts';
import { addGlobals } from '../commands/global-options.ts';
import type { Io } from '../host/io.ts';
import { version } from '../version.ts';
import { nameOf } from './command-name.ts';

interface Group {
  summary: string;
  define(group: Command, bind: Bind): Promise<void>;
}

/** The first word of every command. Only the group that is called is loaded. */
const groups: Readonly<Record<string, Group>> = {
  run: {
    summary: 'trigger, wait for, show and cancel test runs',
    define: async (group, bind) => (await import('../commands/run/define.ts')).defineRun(group, bind),
  },
  init: {
    summary: 'write .rungate.json and a pipeline',
    define: async (command, bind) => (await import('../commands/init/define.ts')).defineInit(command, bind),
  },
  orders: {
    summary: 'read orders, and add them up exactly',
    define: async (group, bind) =>
      (await import('../commands/endpoints/define.ts')).defineOrders(group, bind),
  },
  keys: {
    summary: 'create and delete API keys',
    define: async (group, bind) => (await import('../commands/endpoints/define.ts')).defineKeys(group, bind),
  },
  env: {
    summary: 'environments and their variables',
    define: async (group, bind) => (await import('../commands/endpoints/define.ts')).defineEnv(group, bind),
  },
  observations: {
    summary: 'what exploration has found',
    define: async (group, bind) =>
      (await import('../commands/endpoints/define.ts')).defineObservations(group, bind),
  },
  webhooks: {
    summary: 'webhooks, their secrets and deliveries',
    define: async (group, bind) =>
      (await import('../commands/webhooks/define.ts')).defineWebhooks(group, bind),
  },
  config: {
    summary: 'settings, where they come from, your profile',
    define: async (group, bind) => (await import('../commands/config/define.ts')).defineConfig(group, bind),
  },
  login: {
    summary: 'keep an API key or a token in your profile',
    define: async (command, bind) =>
      (await import('../commands/config/define.ts')).defineLogin(command, bind),
  },
  api: {
    summary: 'call any path of the service',
    define: async (group, bind) =>
      (await import('../commands/endpoints/define.ts')).defineApiCommand(group, bind),
  },
  doctor: {
    summary: 'say what works, and what to do about the rest',
    define: async (command, bind) =>
      (await import('../commands/doctor/define.ts')).defineDoctor(command, bind),
  },
  mock: {
    summary: 'a mock of the service, for trying and testing',
    define: async (group, bind) => (await import('../commands/mock/define.ts')).defineMock(group, bind),
  },
  selftest: {
    summary: 'run a pipeline step against every outcome',
    define: async (group, bind) =>
      (await import('../commands/selftest/define.ts')).defineSelftest(group, bind),
  },
  completion: {
    summary: 'print a script that completes in your shell',
    define: async (command, bind) =>
      (await import('../commands/completion/define.ts')).defineCompletion(command, bind, (words) =>
        createProgram(words, addGlobalsOnly, { text: '' }),
      ),
  },
};

const about = `Trigger a test run, wait for it, and gate the pipeline on its verdict.
Try it: rungate mock exec -- rungate run trigger --project a --tag b --wait`;

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
  const program = new Command('rungate')
    .description(about)
    .enablePositionalOptions()
    .configureHelp({
      // The longest of our flags leaves 33 columns for what it does.
      minWidthToWrap: 30,
      // What a command takes is in its own help: here it would leave no room for what the command does.
      subcommandTerm: (command) => command.name(),
      // Without `help`, which does what `--help` does: the list of commands fits a screen.
      visibleCommands: (command) => [...command.commands],
      commandUsage: usageOf,
    })
    .showHelpAfterError(false)
    // Suggestions are ours: one idea of what is near, for commands as for settings and words.
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
  const called = firstWord(program, argv);
  const isGroup = Object.hasOwn(groups, called);
  for (const [name, { summary, define }] of Object.entries(groups)) {
    // Where one is called, the others would be made for nothing, at the cost of all that it does before its work.
    if (isGroup && name !== called) continue;
    const group = program
      .command(name)
      .summary(summary)
      .description(capitalised(summary))
      .enablePositionalOptions();
    if (!argv.includes(name)) continue;
    await define(group, bind);
    addGlobals(group);
  }
  return program;
}

/** The first word that is neither an option nor the value of one. */
function firstWord(program: Command, argv: readonly string[]): string {
  for (let at = 0; at < argv.length; at++) {
    const word = argv[at] ?? '';
    if (!word.startsWith('-')) return word;
    const option = program.options.find((one) => one.short === word || one.long === word);
    if (option?.required) at++;
  }
  return '';
}

/** Behind `Usage: `, in 80 columns: where it is too much for a line, the arguments stand in the first. */
function usageOf(command: Command): string {
  const usage = `${nameOf(command)} ${command.usage()}`;
  if (usage.length <= 73) return usage;
  return `${usage.replace(' [options]', '')}\n         [options]`;
}

function capitalised(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

/** Runs what the words call. Returns when it has ended; mistakes in the words are usage errors. */
export async function parse(
  program: Command,
  argv: readonly string[],
  spoken: Spoken,
  io: Io,
): Promise<void> {
  try {
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0 && error.code !== 'commander.help') return;
    const { calledCommand, explain, unknownTopic } = await import('./spelling.ts');
    // Not by its exit code, which commander takes from the process: that one is set before anything is understood.
    if (error.code === 'commander.help' && spoken.text !== '') return;
    const isAlone = error.code === 'commander.help' && calledCommand(program, argv) === program;
    if (isAlone && unknownTopic(program, argv) === null) {
      throw await (await import('../commands/init/first-steps.ts')).nothingAsked(io, program.opts());
    }
    spoken.text = '';
    throw await explain(error, program, argv, everyCommand);
  }
}

/** The program with all of its groups loaded: to look for a command wherever it may be. Nothing of it is run. */
export async function everyCommand(): Promise<Command> {
  return createProgram(['help', ...Object.keys(groups)], addGlobalsOnly, { text: '' });
}

/** For a program of which nothing is run. */
export const addGlobalsOnly: Bind = (command) => void addGlobals(command);
