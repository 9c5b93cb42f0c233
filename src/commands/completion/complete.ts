import type { Argument, Command, Option } from 'commander';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import type { Flags } from '../../options/table.ts';
import { renderJson, wantsJson } from '../../output/json.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import { echoed } from '../../suggest.ts';
import { isRepeatable, specOf } from '../command.ts';
import { chosenFormat } from '../options.ts';
import type { Bare, BareSpec } from '../spec.ts';
import { type CompletionLine, type Shell, type Suggestion, shells } from './completes.ts';
import { argumentAt, type Cursor, cursorOf } from './line.ts';
import { candidatesOf } from './lists.ts';
import { type Answer, readLine, responseTo, scripts } from './shells.ts';

const install = `To enable it in every new shell, add the line to the file:
  bash  ~/.bashrc  eval "$(rungate completion bash)"
  zsh   ~/.zshrc   eval "$(rungate completion zsh)"
  fish  ~/.config/fish/config.fish  rungate completion fish | source
  PowerShell  $PROFILE
    rungate completion powershell | Out-String | Invoke-Expression
`;

function shellOf(name: unknown): Shell {
  const shell = shells.find((known) => known === name);
  if (shell !== undefined) return shell;
  const problem = name === undefined ? 'no shell given' : `unsupported shell ${echoed(String(name))}`;
  throw new UsageError(problem, { hint: 'write rungate completion bash, zsh, fish or powershell' });
}

export const completion: BareSpec = {
  name: 'completion',
  summary: 'print a completion script for your shell',
  heading: 'Settings:',
  description: 'Print a script that makes TAB complete commands, options and their values.',
  usage: shells.join('|'),
  args: { '[shell]': { help: '', completes: shells }, '[words...]': '' },
  // For the scripts only: they call the program, so that an upgrade does not change them.
  options: { '--complete': { help: '', hidden: true } },
  notes: install,
  settings: false,
  async run(bare, args, flags: Flags & { complete?: boolean }) {
    const { io } = bare;
    const shell = shellOf(args.shell);
    const words = args.words as readonly string[];
    if (flags.complete === true) {
      await completeCommand(bare, shell, words);
      return exitCodes.ok;
    }
    if (words.length > 0)
      throw new UsageError(`too many arguments: ${echoed(words.join(' '))}`, {
        hint: `write rungate completion ${shell}`,
      });
    const format = chosenFormat(flags) ?? 'plain';
    const data = { schemaVersion: 1, shell, script: scripts[shell] };
    await io.out.write(wantsJson({ format }) ? renderJson(data, format === 'json' ? 2 : 0) : data.script);
    return exitCodes.ok;
  },
};

const words = (candidates: readonly Suggestion[]): Answer => ({ kind: 'words', candidates });
const paths = (kind: 'files' | 'folders'): Answer => ({ kind, candidates: [] });

/** Leaves an unsafe candidate out, because sanitising would turn it into another value. */
function safeSuggestions(candidates: readonly (string | Suggestion)[]): Suggestion[] {
  return candidates
    .map((candidate): Suggestion => (typeof candidate === 'string' ? { value: candidate } : candidate))
    .filter(({ value }) => value !== '' && value === sanitize(value))
    .map(({ value, about = '' }) => ({ value, about: excerpt(about, 80) }));
}

async function suggestionsFor(part: Option | Argument, line: CompletionLine): Promise<Answer> {
  const source = specOf(part)?.completes;
  if (source !== undefined) {
    // No message at the prompt: the command itself will report an error.
    return words(await candidatesOf(source, line).then(safeSuggestions, () => []));
  }
  // For `--junit <file>`, `file`.
  const placeholder = 'flags' in part ? /[<[]([^<>[\]]+)[>\]]/.exec(part.flags)?.[1] : part.name();
  if (placeholder === 'file') return paths('files');
  return placeholder === 'folder' ? paths('folders') : words([]);
}

function visibleCommands(group: Command): Suggestion[] {
  const help = group.createHelp();
  return help
    .visibleCommands(group)
    .map((command) => ({ value: command.name(), about: help.subcommandDescription(command) }));
}

/** Without the options already on the line, unless they are repeatable. */
function visibleOptions(command: Command, seen: ReadonlySet<Option>): Suggestion[] {
  const help = command.createHelp();
  const isOpen = (option: Option) => !seen.has(option) || isRepeatable(option);
  return help
    .visibleOptions(command)
    .filter(isOpen)
    .map((option) => ({ value: option.long ?? option.short ?? '', about: help.optionDescription(option) }));
}

async function answerTo(cursor: Cursor, io: Io): Promise<Answer> {
  const { wanted, command, operands, seen } = cursor;
  if (wanted.kind === 'foreign') return paths('files');
  if (wanted.kind === 'value') return suggestionsFor(wanted.option, { ...cursor, io });
  if (wanted.kind === 'nothing') return words([]);
  if (wanted.kind === 'operand' && command.commands.length > 0) {
    return words(safeSuggestions(visibleCommands(command)));
  }
  const argument = wanted.kind === 'operand' ? argumentAt(command, operands.length) : undefined;
  if (argument !== undefined) return suggestionsFor(argument, { ...cursor, io });
  return words(safeSuggestions(visibleOptions(command, seen)));
}

/**
 * Prints the completions. The shell scripts call it when the user presses TAB.
 * @param given zsh and fish: the words after the program's name, up to the cursor; bash: COMP_WORDBREAKS, and the line up to
 * the cursor; PowerShell: the words in Base64
 */
async function completeCommand(
  { io, programFor }: Bare,
  shell: Shell,
  given: readonly string[],
): Promise<void> {
  const line = readLine(shell, given);
  const cursor = cursorOf(await programFor(line.words), line.words);
  const answer = await answerTo(cursor, io);
  const typed = { word: line.words.at(-1) ?? '', attached: cursor.attached, kept: line.kept };
  await io.out.write(responseTo(shell, answer, typed));
}
