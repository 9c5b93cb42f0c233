import { type Command, CommanderError, Option } from 'commander';
import { type Bind, summarise } from '../commands/binding.ts';
import { Misuse, OwnCommand } from '../commands/command.ts';
import { defineGate } from '../commands/gate/define.ts';
import { addGlobals } from '../commands/options.ts';
import type { definitions } from '../commands/other-groups.ts';
import { defineRun } from '../commands/run/define.ts';
import type { Io } from '../host/io.ts';
import { renderJson } from '../output/json.ts';
import { version } from '../version.ts';
import { formatAtFirstSight, ownArguments } from './argv.ts';
import { setHelp } from './help.ts';
import { explain } from './spelling.ts';

/** Loads the groups that a gate does not need. Each additional `import()` here splits the built code into more files. */
const otherGroups = () => import('../commands/other-groups.ts');

type GroupName = 'gate' | 'run' | keyof typeof definitions;

/** The groups that a gate needs. */
const direct = { gate: defineGate, run: defineRun };

/** With their headings in the help, in its order. A group is loaded only if the command line has its name. */
const groups: Readonly<Record<GroupName, readonly [heading: string, summary: string]>> = {
  gate: ['Gate:', 'start a test run, wait for it and exit with its verdict'],
  run: ['Gate:', 'trigger, wait for, show and cancel test runs'],
  init: ['Gate:', 'write .rungate.json and a pipeline'],
  selftest: ['Gate:', 'test a pipeline step against every outcome'],
  doctor: ['Gate:', 'check the configuration and suggest fixes'],
  config: ['Settings:', 'show settings and change your profile'],
  login: ['Settings:', 'save an API key or a token in your profile'],
  logout: ['Settings:', 'remove secrets from your profile'],
  completion: ['Settings:', 'print a completion script for your shell'],
  env: ['Service:', 'manage environments and their variables'],
  keys: ['Service:', 'create and delete API keys'],
  observations: ['Service:', 'read and manage findings of explorations'],
  orders: ['Service:', 'list orders and verify their summary'],
  webhooks: ['Service:', 'manage, receive and verify webhooks'],
  api: ['Service:', 'send a request to any path of the service'],
  mock: ['Around it:', 'run a mock of the service'],
  hub: ['Around it:', 'serve the hub of a fleet of gates'],
  receipt: ['Around it:', 'create keys for receipts, show and verify them'],
};

const about = 'Gate a pipeline on a test run. For first steps, run rungate without a command.';

/** The text that commander prints: help or the version. */
export interface Printed {
  text: string;
}

/** Creates the program and loads the group that `argv` calls. Only subcommands made by `.command()` inherit settings. */
export async function createProgram(
  argv: readonly string[],
  bind: Bind,
  printed: Printed,
  shownVersion = version,
): Promise<Command> {
  const program = new OwnCommand('rungate')
    .description(about)
    .enablePositionalOptions()
    .showSuggestionAfterError(false)
    .configureOutput({
      writeOut: (text) => {
        printed.text += text;
      },
      writeErr: () => {},
    })
    .exitOverride();
  setHelp(addGlobals(program), argv.includes('--all'))
    .version(shownVersion, '-V, --version', 'show the version')
    // The reader of this help knows the option. Without its row, the help fits on a screen.
    .addHelpOption(new Option('-h, --help', 'show this help').hideHelp());
  const [called = ''] = operandsOf(program, argv);
  const isGroup = Object.hasOwn(groups, called);
  for (const name of Object.keys(groups) as GroupName[]) {
    // If a group is called, creating the others would only delay the command.
    if (isGroup && name !== called) continue;
    const [heading, summary] = groups[name];
    const group = summarise(program.command(name), summary).helpGroup(heading).enablePositionalOptions();
    if (!argv.includes(name)) continue;
    const define = Object.hasOwn(direct, name)
      ? direct[name as keyof typeof direct]
      : (await otherGroups()).definitions[name as keyof typeof definitions];
    define(group, bind, unboundProgram);
    addGlobals(group);
  }
  return program;
}

/** Whether the command line runs a gate, even if it cannot be parsed. */
export function writesReports(argv: readonly string[]): boolean {
  const args = ownArguments(argv);
  const called = args.find((word) => word === 'help' || Object.hasOwn(groups, word)) ?? '';
  const waits =
    called === 'gate' || (called === 'run' && ['wait', 'trigger'].some((word) => args.includes(word)));
  return waits && !['-h', '--help', '--dry-run'].some((flag) => args.includes(flag));
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

/** Whether the only argument is `version`, as some people write `--version`. */
const isVersionWord = (argv: readonly string[]) => argv.length === 1 && argv[0] === 'version';

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
      const format = formatAtFirstSight(argv);
      if (format === 'plain') return command.outputHelp();
      const { describeHelp } = await otherGroups();
      printed.text = renderJson(describeHelp(await everyCommand(), topic), format === 'json' ? 2 : 0);
      return;
    }
    await program.parseAsync(isVersionWord(argv) ? ['--version'] : [...argv], { from: 'user' });
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

function unboundProgram(argv: readonly string[]): Promise<Command> {
  // Completion and the docs list every option.
  return createProgram([...argv, '--all'], (command) => void addGlobals(command), { text: '' });
}
