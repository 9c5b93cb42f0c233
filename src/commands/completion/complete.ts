import { type Argument, type Command, Option } from 'commander';
import { UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { Io } from '../../host/io.ts';
import type { Flags } from '../../options/table.ts';
import { renderJson, wantsJson } from '../../output/json.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import { echoed } from '../../suggest.ts';
import type { Bind } from '../binding.ts';
import { chosenFormat } from '../options.ts';
import type { JsonDocument } from '../result-schemas.ts';
import {
  type CompletionLine,
  completes,
  type Shell,
  type Suggestion,
  shells,
  sourceOf,
} from './completes.ts';
import { argumentAt, type BashLine, bashLine, type Cursor, cursorOf, isPlainInBash } from './line.ts';
import { scripts } from './scripts.ts';
import { candidatesOf } from './sources.ts';

const install = `
To enable it in every new shell, add the line to the file:
  bash  ~/.bashrc  eval "$(rungate completion bash)"
  zsh   ~/.zshrc   eval "$(rungate completion zsh)"
  fish  ~/.config/fish/config.fish  rungate completion fish | source
`;

function shellOf(name: unknown): Shell {
  const shell = shells.find((known) => known === name);
  if (shell !== undefined) return shell;
  const problem = name === undefined ? 'no shell given' : `unsupported shell ${echoed(String(name))}`;
  throw new UsageError(problem, { hint: 'write rungate completion bash, zsh or fish' });
}

export function defineCompletion(command: Command, bind: Bind, programFor: ProgramFor): void {
  command
    .description('Print a script that makes TAB complete commands, options and their values.')
    .usage(shells.join('|'))
    .argument('[shell]')
    // For the scripts only: they call the program, so that an upgrade does not change them.
    .addOption(new Option('--complete').hideHelp())
    .argument('[words...]')
    .addHelpText('after', install);
  completes(command, 'shell', shells);
  bind(command, {
    async runBare(io, [name, rest], flags: Flags & { complete?: boolean }) {
      const shell = shellOf(name);
      const words = rest as readonly string[];
      if (flags.complete === true) {
        await completeCommand(io, shell, words, programFor);
        return exitCodes.ok;
      }
      if (words.length > 0)
        throw new UsageError(`too many arguments: ${echoed(words.join(' '))}`, {
          hint: `write rungate completion ${shell}`,
        });
      const format = chosenFormat(flags) ?? 'plain';
      const data: JsonDocument<'completion'> = { schemaVersion: 1, shell, script: scripts[shell] };
      await io.out.write(wantsJson({ format }) ? renderJson(data, format === 'json' ? 2 : 0) : data.script);
      return exitCodes.ok;
    },
  });
}

/** The response to the shell: candidates, or what the shell itself should complete. */
type Answer =
  | { readonly kind: 'words'; readonly candidates: readonly Suggestion[] }
  | { readonly kind: 'files' | 'folders' }
  /** Complete the other command that starts at the word with this index. */
  | { readonly kind: 'command'; readonly at: number };

const words = (candidates: readonly Suggestion[]): Answer => ({ kind: 'words', candidates });

/** Leaves an unsafe candidate out, because sanitising would turn it into another value. */
function safeSuggestions(candidates: readonly (string | Suggestion)[]): Suggestion[] {
  return candidates
    .map((candidate): Suggestion => (typeof candidate === 'string' ? { value: candidate } : candidate))
    .filter(({ value }) => value !== '' && value === sanitize(value))
    .map(({ value, about = '' }) => ({ value, about: excerpt(about, 80) }));
}

async function suggestionsFor(place: Option | Argument, line: CompletionLine): Promise<Answer> {
  const source = sourceOf(place);
  if (source !== undefined) {
    // No message at the prompt: the command itself will report an error.
    return words(await candidatesOf(source, line).then(safeSuggestions, () => []));
  }
  // For `--junit <file>`, `file`.
  const placeholder = 'flags' in place ? /[<[]([^<>[\]]+)[>\]]/.exec(place.flags)?.[1] : place.name();
  if (placeholder === 'file') return { kind: 'files' };
  return placeholder === 'folder' ? { kind: 'folders' } : words([]);
}

function visibleCommands(group: Command): Suggestion[] {
  const help = group.createHelp();
  return help.visibleCommands(group).map((command) => ({
    value: command.name(),
    about: help.subcommandDescription(command),
  }));
}

/** Without the options already on the line, unless they are repeatable. */
function visibleOptions(command: Command, seen: ReadonlySet<Option>): Suggestion[] {
  const help = command.createHelp();
  const isOpen = (option: Option) => !seen.has(option) || option.parseArg !== undefined;
  return help
    .visibleOptions(command)
    .filter(isOpen)
    .map((option) => ({
      value: option.long ?? option.short ?? '',
      about: help.optionDescription(option),
    }));
}

async function answerTo(place: Cursor, io: Io): Promise<Answer> {
  const { wanted, command, operands, seen } = place;
  if (wanted.kind === 'foreign') return { kind: 'command', at: wanted.at };
  if (wanted.kind === 'value') return suggestionsFor(wanted.option, { ...place, io });
  if (wanted.kind === 'nothing') return words([]);
  if (wanted.kind === 'operand' && command.commands.length > 0) {
    return words(safeSuggestions(visibleCommands(command)));
  }
  const argument = wanted.kind === 'operand' ? argumentAt(command, operands.length) : undefined;
  if (argument !== undefined) return suggestionsFor(argument, { ...place, io });
  return words(safeSuggestions(visibleOptions(command, seen)));
}

/** Returns the output that the scripts read: the kind of completion in the first line, then one candidate per line. */
function shellResponse(head: string, rest: readonly string[] = []): string {
  return [head, ...rest].map((line) => `${line}\n`).join('');
}

/** Returns the output for zsh and fish, which filter and quote the candidates. `attached` is for example `--format=`, or empty. */
function plainOutput(answer: Answer, shell: Shell, attached: string): string {
  if (answer.kind === 'command') return shellResponse(`command ${answer.at}`);
  const head = attached === '' ? answer.kind : `${answer.kind} attached`;
  if (answer.kind !== 'words') return shellResponse(head);
  // fish matches the whole word; the zsh script skips the part before the value.
  const before = shell === 'fish' ? attached : '';
  const rows = answer.candidates.map(({ value, about }) => `${before}${value}${about ? `\t${about}` : ''}`);
  return shellResponse(head, rows);
}

/** Returns the output for bash, which inserts a line of it unquoted in place of the last part of the word. */
export function bashOutput(
  answer: Answer,
  { words: typedWords, starts, kept }: BashLine,
  attached: string,
): string {
  // The first word of the line is the program itself.
  if (answer.kind === 'command') return shellResponse(`command ${starts[answer.at + 1] ?? 0}`);
  if (answer.kind !== 'words') return shellResponse(answer.kind);
  if (kept === null) return shellResponse('words');
  const typed = typedWords.at(-1) ?? '';
  const fitting = answer.candidates
    .map(({ value }) => attached + value)
    .filter((word) => word.startsWith(typed) && isPlainInBash(word))
    .map((word) => word.slice(kept));
  return shellResponse('words', fitting);
}

/** Builds the program with the commands that the words need, without running them. */
type ProgramFor = (words: readonly string[]) => Promise<Command>;

/**
 * Prints the completions. The shell scripts call it when the user presses TAB.
 * @param words zsh and fish: the words after the program's name, up to the cursor; bash: COMP_WORDBREAKS, and the line up to
 * the cursor
 * @param programFor builds the program whose commands and options are offered
 */
async function completeCommand(
  io: Io,
  shell: Shell,
  words: readonly string[],
  programFor: ProgramFor,
): Promise<void> {
  const line = shell === 'bash' ? bashLine(words[1] ?? '', words[0] ?? '') : null;
  const afterProgram = line === null ? words : line.words.slice(1);
  const place = cursorOf(await programFor(afterProgram), afterProgram);
  const answer = await answerTo(place, io);
  const { attached } = place;
  await io.out.write(
    line === null ? plainOutput(answer, shell, attached) : bashOutput(answer, line, attached),
  );
}
