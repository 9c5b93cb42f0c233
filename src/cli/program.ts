import { type Command, CommanderError, Option } from 'commander';
import { type Bind, summarise } from '../commands/binding.ts';
import { addGlobals } from '../commands/options.ts';
import type { definitions } from '../commands/other-groups.ts';
import { defineRun } from '../commands/run/define.ts';
import type { Io } from '../host/io.ts';
import { version } from '../version.ts';
import { fullName, Misuse, OwnCommand } from './command.ts';
import { explain } from './spelling.ts';

/** Loads the groups that a gate does not need. Each additional `import()` here splits the built code into more files. */
const otherGroups = () => import('../commands/other-groups.ts');

type GroupName = 'run' | keyof typeof definitions;

/** In the order of the help. A group is loaded only if the command line has its name. */
const summaries: Readonly<Record<GroupName, string>> = {
  run: 'trigger, wait for, show and cancel test runs',
  init: 'write .rungate.json and a pipeline',
  orders: 'list orders and verify their summary',
  keys: 'create and delete API keys',
  env: 'manage environments and their variables',
  observations: 'read and manage findings of explorations',
  webhooks: 'manage, receive and verify webhooks',
  hub: 'serve the hub of a fleet of gates',
  receipt: 'create keys for receipts, show and verify them',
  config: 'show settings and change your profile',
  login: 'save an API key or a token in your profile',
  logout: 'remove secrets from your profile',
  api: 'send a request to any path of the service',
  doctor: 'check the configuration and suggest fixes',
  mock: 'run a mock of the service',
  selftest: 'test a pipeline step against every outcome',
  completion: 'print a completion script for your shell',
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
  const isGroup = Object.hasOwn(summaries, called);
  for (const [name, summary] of Object.entries(summaries) as [GroupName, string][]) {
    // If a group is called, creating the others would only delay the command.
    if (isGroup && name !== called) continue;
    const group = summarise(program.command(name), summary).enablePositionalOptions();
    if (!argv.includes(name)) continue;
    const define = name === 'run' ? defineRun : (await otherGroups()).definitions[name];
    define(group, bind, unboundProgram);
    addGlobals(group);
  }
  return program;
}

/** Returns the arguments that are neither options nor values of global options. */
function operandsOf(program: Command, argv: readonly string[]): string[] {
  const isValue = (index: number) =>
    program.options.some(({ short, long, required }) => required && [short, long].includes(argv[index - 1]));
  return argv.filter((argument, index) => !argument.startsWith('-') && (index === 0 || !isValue(index)));
}

const subcommand = (command: Command, name: string) =>
  command.commands.find((child) => child.name() === name);

/** Returns the names of the command in `help run trigger` or `run help trigger`, or null if no help is requested. */
function helpTopic(program: Command, argv: readonly string[]): string[] | null {
  const operands = operandsOf(program, argv);
  let command: Command | undefined = program;
  for (const [helpIndex, operand] of operands.entries()) {
    // "help" may also be an argument of a command.
    if (command === undefined || command.commands.length === 0) return null;
    if (operand === 'help') return operands.filter((name, index) => index < helpIndex || name !== 'help');
    command = subcommand(command, operand);
  }
  return null;
}

/** Returns the usage of a command for 80 columns including `Usage: `. If it is too long, `[options]` moves to a second line. */
function usageOf(command: Command): string {
  const usage = `${fullName(command)} ${command.usage()}`;
  if (usage.length <= 73) return usage;
  return `${usage.replace(' [options]', '')}\n         [options]`;
}

/** @throws UsageError if the command line cannot be parsed */
export async function parseAndRun(
  program: Command,
  argv: readonly string[],
  printed: Printed,
  io: Io,
): Promise<void> {
  try {
    const topic = helpTopic(program, argv);
    if (topic !== null) {
      const command = topic.reduce((group, name) => {
        return subcommand(group, name) ?? group.error(`unknown command '${name}'`);
      }, program);
      return command.outputHelp();
    }
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
export const everyCommand = (): Promise<Command> => unboundProgram(['help', ...Object.keys(summaries)]);

function unboundProgram(argv: readonly string[]): Promise<Command> {
  return createProgram(argv, (command) => void addGlobals(command), { text: '' });
}
