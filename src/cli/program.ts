import { type Command, CommanderError, Option } from 'commander';
import { type Bind, summarise } from '../commands/binding.ts';
import type { ProgramFor } from '../commands/completion/complete.ts';
import { addGlobals } from '../commands/options.ts';
import { defineRun } from '../commands/run/define.ts';
import type { Io } from '../host/io.ts';
import { version } from '../version.ts';
import { Misuse, nameOf, OwnCommand } from './command.ts';
import { explain } from './spelling.ts';

interface Group {
  summary: string;
  /** Returns the function that defines the group's commands and options. */
  load(): Promise<(group: Command, bind: Bind, programFor: ProgramFor) => void>;
}

/** Loads the groups that a gate does not need. Each additional `import()` here splits the built code into more files. */
const otherGroups = () => import('../commands/other-groups.ts');

const groups: Readonly<Record<string, Group>> = {
  run: {
    summary: 'trigger, wait for, show and cancel test runs',
    load: async () => defineRun,
  },
  init: {
    summary: 'write .rungate.json and a pipeline',
    load: async () => (await otherGroups()).defineInit,
  },
  orders: {
    summary: 'list orders and verify their summary',
    load: async () => (await otherGroups()).defineOrders,
  },
  keys: {
    summary: 'create and delete API keys',
    load: async () => (await otherGroups()).defineKeys,
  },
  env: {
    summary: 'manage environments and their variables',
    load: async () => (await otherGroups()).defineEnv,
  },
  observations: {
    summary: 'read and manage findings of explorations',
    load: async () => (await otherGroups()).defineObservations,
  },
  webhooks: {
    summary: 'manage, receive and verify webhooks',
    load: async () => (await otherGroups()).defineWebhooks,
  },
  hub: {
    summary: 'serve the hub of a fleet of gates',
    load: async () => (await otherGroups()).defineHub,
  },
  receipt: {
    summary: 'create keys for receipts, show and verify them',
    load: async () => (await otherGroups()).defineReceipt,
  },
  config: {
    summary: 'show settings and change your profile',
    load: async () => (await otherGroups()).defineConfig,
  },
  login: {
    summary: 'save an API key or a token in your profile',
    load: async () => (await otherGroups()).defineLogin,
  },
  logout: {
    summary: 'remove secrets from your profile',
    load: async () => (await otherGroups()).defineLogout,
  },
  api: {
    summary: 'send a request to any path of the service',
    load: async () => (await otherGroups()).defineApiCommand,
  },
  doctor: {
    summary: 'check the configuration and suggest fixes',
    load: async () => (await otherGroups()).defineDoctor,
  },
  mock: {
    summary: 'run a mock of the service',
    load: async () => (await otherGroups()).defineMock,
  },
  selftest: {
    summary: 'test a pipeline step against every outcome',
    load: async () => (await otherGroups()).defineSelftest,
  },
  completion: {
    summary: 'print a completion script for your shell',
    load: async () => (await otherGroups()).defineCompletion,
  },
};

const about = 'Gate a pipeline on a test run. For first steps, run rungate without a command.';

const exitTable = `
Exit codes: 0 passed · 1 failed · 2 blocked · 3 timeout · 4 cancelled (--strict)
  5 service error · 6 credentials · 7 unreachable · 8 another build · 64 usage
  70 bug · 78 configuration · 129, 130, 143 stopped by SIGHUP, SIGINT, SIGTERM`;

/** The text that commander prints: help or the version. */
export interface Printed {
  text: string;
}

/** Creates the program and loads the group that `argv` calls. Only subcommands made by `.command()` inherit settings. */
export async function createProgram(argv: readonly string[], bind: Bind, printed: Printed): Promise<Command> {
  const program = new OwnCommand('rungate')
    .description(about)
    .enablePositionalOptions()
    .configureHelp({
      // The longest option leaves 33 columns for its description.
      minWidthToWrap: 30,
      // Without its arguments: they would leave no room for the description.
      subcommandTerm: (command) => command.name(),
      commandUsage: usageOf,
    })
    .showSuggestionAfterError(false)
    .addHelpText('after', exitTable)
    .configureOutput({
      writeOut: (text) => {
        printed.text += text;
      },
      writeErr: () => {},
    })
    .exitOverride();
  addGlobals(program)
    .version(version, '--version', 'show the version')
    // The reader of this help knows the option. Without its row, the help fits on a screen.
    .addHelpOption(new Option('-h, --help', 'show this help').hideHelp());
  const [called = ''] = operandsOf(program, argv);
  const isGroup = Object.hasOwn(groups, called);
  for (const [name, { summary, load }] of Object.entries(groups)) {
    // If a group is called, creating the others would only delay the command.
    if (isGroup && name !== called) continue;
    const group = summarise(program.command(name), summary).enablePositionalOptions();
    if (!argv.includes(name)) continue;
    (await load())(group, bind, unboundProgram);
    addGlobals(group);
  }
  return program;
}

/** Returns the arguments that are neither options nor values of global options. */
function operandsOf(program: Command, argv: readonly string[]): string[] {
  const isValue = (at: number) =>
    program.options.some(({ short, long, required }) => required && [short, long].includes(argv[at - 1]));
  return argv.filter((argument, at) => !argument.startsWith('-') && (at === 0 || !isValue(at)));
}

const subcommand = (command: Command, name: string) => command.commands.find((one) => one.name() === name);

/** Returns the names of the command in `help run trigger` or `run help trigger`, or null if no help is requested. */
function helpTopic(program: Command, argv: readonly string[]): string[] | null {
  const operands = operandsOf(program, argv);
  let command: Command | undefined = program;
  for (const [at, operand] of operands.entries()) {
    // "help" may also be an argument of a command.
    if (command === undefined || command.commands.length === 0) return null;
    if (operand === 'help') return operands.filter((one, index) => index < at || one !== 'help');
    command = subcommand(command, operand);
  }
  return null;
}

function showHelp(program: Command, topic: readonly string[]): void {
  const found = topic.reduce((command, name) => {
    return subcommand(command, name) ?? command.error(`unknown command '${name}'`);
  }, program);
  found.outputHelp();
}

/** Returns the usage of a command for 80 columns including `Usage: `. If it is too long, `[options]` moves to a second line. */
function usageOf(command: Command): string {
  const usage = `${nameOf(command)} ${command.usage()}`;
  if (usage.length <= 73) return usage;
  return `${usage.replace(' [options]', '')}\n         [options]`;
}

/** @throws UsageError if the command line cannot be parsed */
export async function parse(
  program: Command,
  argv: readonly string[],
  printed: Printed,
  io: Io,
): Promise<void> {
  try {
    const topic = helpTopic(program, argv);
    if (topic !== null) return showHelp(program, topic);
    await program.parseAsync([...argv], { from: 'user' });
  } catch (error) {
    // commander throws this after it has printed help or the version.
    if (error instanceof CommanderError) return;
    if (!(error instanceof Misuse)) throw error;
    printed.text = '';
    if (error.command === program && error.code === 'missingCommand') {
      throw await (await otherGroups()).noCommandError(io, program.opts());
    }
    throw await explain(error, argv, everyCommand);
  }
}

/** Returns the program with all groups loaded, for searching commands. None of them can be run. */
export const everyCommand = (): Promise<Command> => unboundProgram(['help', ...Object.keys(groups)]);

/** Returns a program whose commands cannot be run. */
function unboundProgram(argv: readonly string[]): Promise<Command> {
  return createProgram(argv, (command) => void addGlobals(command), { text: '' });
}
