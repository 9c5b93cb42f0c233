import type { Command, Option } from 'commander';
import { nameOf } from './command.ts';

/** An argument that its command does not take, and its surroundings. */
interface Extra {
  readonly command: Command;
  readonly name: string;
  readonly text: string;
  /** The last option before it. */
  readonly option: Option | undefined;
  /** Whether it directly follows that option. */
  readonly isNext: boolean;
}

function extraOf(command: Command, text: string, argv: readonly string[]): Extra {
  const before = argv.slice(0, argv.lastIndexOf(text));
  const at = before.findLastIndex((argument) => argument.startsWith('-'));
  const [given] = (before[at] ?? '').split('=');
  const option = command.options.find(
    ({ short, long }) => given !== '' && (given === short || given === long),
  );
  return { command, name: nameOf(command), text, option, isNext: at === before.length - 1 };
}

const hasOption = ({ command }: Extra, name: string) => command.options.some(({ long }) => long === name);
const isOption = ({ option }: Extra, name: string) => option?.long === name;

/** Returns a hint for a value after an option that takes none, or null for any other argument. */
function withoutValue(extra: Extra): string | null {
  const { option, isNext, text } = extra;
  if (option === undefined || !isNext || option.required) return null;
  const { long } = option;
  if (long === '--json') {
    const some = hasOption(extra, '--columns')
      ? 'to select columns of the table, use --columns id,name'
      : 'to select fields, use jq';
    return `--json takes no value and prints every field: ${some}`;
  }
  const opposite = long?.replace(/^--/, '--no-') ?? '';
  if (!hasOption(extra, opposite)) return `${long} takes no value: write it alone, or leave it out`;
  const isFalse = /^(?:false|no|off|0)$/i.test(text);
  return `${long} takes no value: ${isFalse ? `write ${opposite}` : `write ${long} alone`}`;
}

/** How `config set` accepts settings with several values. */
const listSettings: Readonly<Record<string, string>> = {
  tags: 'separate the values with commas: smoke,nightly',
  on: 'write <verdict>=<action>, separated by commas: cancelled=fail,timeout=warn',
};

/** Functions that return a hint or not; the first hint counts. No hint repeats the argument, which may be a secret. */
const rows: readonly ((extra: Extra) => string | false | null | undefined)[] = [
  ({ text }) => text === '' && 'the argument is empty: check the variable that it comes from',
  ({ text }) => /^[–—−]/.test(text) && 'the argument begins with a long dash: type two hyphens instead',
  ({ text }) =>
    /^[\\`^]$|^\s*$|^\s+-/.test(text) &&
    'to continue a line, end it with \\ in sh, ^ in cmd or ` in PowerShell, and nothing after that character',
  withoutValue,
  ({ name, command }) =>
    name === 'rungate config set' &&
    Object.hasOwn(listSettings, command.args[0] ?? '') &&
    listSettings[command.args[0] ?? ''],
  ({ name, text }) =>
    /^rungate env vars (?:create|update)$/.test(name) &&
    text.includes('=') &&
    'write --field name=A --field value=1',
  (extra) =>
    hasOption(extra, '--field') &&
    /^[A-Za-z_][\w.]*=/.test(extra.text) &&
    'write each field as an option: --field <name>=<value>',
  (extra) => isOption(extra, '--columns') && 'separate the names with commas: --columns id,name',
  ({ option }) =>
    option?.parseArg !== undefined && `repeat ${option.long} for each value, or put it in quotes`,
  ({ option }) => option?.required && `put quotes around a value with spaces: ${option.long} "…"`,
  ({ name }) =>
    name === 'rungate run cancel' &&
    'pass the reason as --reason "…"; this command cancels one run at a time',
  ({ name }) =>
    name === 'rungate run status' && 'this command shows one run at a time; rungate run wait takes several',
  ({ name }) => name.endsWith(' delete') && 'this command deletes one item at a time: run it once for each',
  ({ name }) => name === 'rungate login' && 'type the secret at the prompt, or pipe it: rungate login < file',
];

/** Returns a hint on the likely cause of an extra argument and what to write instead. */
export function extraArgumentHint(command: Command, text: string, argv: readonly string[]): string {
  const extra = extraOf(command, text, argv);
  for (const row of rows) {
    const hint = row(extra);
    if (typeof hint === 'string') return hint;
  }
  return 'put quotes around a value with spaces; an option begins with --';
}
