import { type Command, CommanderError, Option } from 'commander';
import { type Act, Misuse, OwnCommand } from '../commands/command.ts';
import { gateGroups } from '../commands/gate-groups.ts';
import type { Spec } from '../commands/spec.ts';
import type { Io } from '../host/io.ts';
import { renderJson } from '../output/json.ts';
import { version } from '../version.ts';
import { formatAtFirstSight, ownArguments } from './argv.ts';
import { setHelp } from './help.ts';
import { explain } from './likely-mistakes.ts';

/** Loads the groups that a gate does not need. Each additional `import()` here splits the built code into more files. */
const otherGroups = () => import('../commands/other-groups.ts');

const about = 'Gate a pipeline on a test run. For first steps, run rungate without a command.';

/** The text that commander prints: help or the version. */
export interface Printed {
  text: string;
}

/** Creates the program, with the commands of the group that `argv` calls. */
export async function createProgram(
  argv: readonly string[],
  act: Act,
  printed: Printed,
  shownVersion = version,
): Promise<OwnCommand> {
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
  setHelp(program.addGlobals(), argv.includes('--all'))
    .version(shownVersion, '-V, --version', 'show the version')
    // The reader of this help knows the option. Without its row, the help fits on a screen.
    .addHelpOption(new Option('-h, --help', 'show this help').hideHelp());
  const [called] = operandsOf(program, argv);
  const isCalled = ({ name }: Spec) => name === called;
  const all = gateGroups.some(isCalled) ? gateGroups : [...gateGroups, ...(await otherGroups()).otherGroups];
  // If a group is called, creating the others would only delay the command.
  for (const spec of all.some(isCalled) ? all.filter(isCalled) : all)
    program.add(spec, argv.includes(spec.name) ? act : undefined);
  return program;
}

/** Whether the command line runs a gate, even if it cannot be parsed. */
export function writesReports(program: Command, argv: readonly string[]): boolean {
  const args = ownArguments(argv);
  const called = args.find((word) => word === 'help' || subcommand(program, word) !== undefined) ?? '';
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
      throw (await otherGroups()).noCommandError(io);
    }
    throw await explain(error, argv, everyCommand);
  }
}

/** Returns the program with all groups loaded, for searching commands. None of them can be run. */
export async function everyCommand(): Promise<OwnCommand> {
  const all = [...gateGroups, ...(await otherGroups()).otherGroups];
  return programFor(['help', ...all.map(({ name }) => name)]);
}

/** Returns the program with the commands that the words need, without running them. */
export function programFor(words: readonly string[]): Promise<OwnCommand> {
  // Completion and the docs list every option.
  return createProgram([...words, '--all'], () => {}, { text: '' });
}
