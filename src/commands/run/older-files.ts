import { resolve } from 'node:path';
import type { Io } from '../../host/io.ts';
import { type OptionRow, rows } from '../../options/table.ts';
import { maxBytes } from '../../receipt/dsse.ts';

/** The options whose files have the result. */
export const fileRows: readonly OptionRow[] = [rows.junit, rows.report, rows.receipt];

/** How each report begins. No other program writes such a file by chance. */
const marks: readonly RegExp[] = [
  /^\{\s*"schemaVersion": 1,\s*"result": "\w+",\s*"exitCode": \d+,\s*"(?:runs|gates)":/,
  /^<\?xml [^>]*>\s*<testsuites>\s*<testsuite [^>]*>\s*<properties>\s*<property name="result" value="\w+"\/>\s*<property name="exitCode" /,
  /^### \S+ rungate: /,
  /^(?:RUNGATE_[A-Z_]+=.*\n)+$/,
];

/** Tells whether a text is a receipt: an envelope or a statement that names the rungate that wrote it. */
export function isReceipt(text: string): boolean {
  try {
    const { payload, ...plain } = JSON.parse(text);
    const statement = payload === undefined ? plain : JSON.parse(Buffer.from(payload, 'base64').toString());
    return typeof statement.predicate.configuration[0].annotations.rungate.rungate === 'string';
  } catch {
    return false;
  }
}

/** Returns the text of a regular file, as far as a receipt may be long; null for anything else. */
export function textOf(io: Io, path: string): string | null {
  try {
    return io.inspect(path).isFile ? new TextDecoder().decode(io.readFile(path, maxBytes)) : null;
  } catch {
    return null;
  }
}

/** Returns the values of an option, even if the command line cannot be parsed. */
const valuesOf = (args: readonly string[], { flag }: OptionRow): string[] => {
  const [name = ''] = flag?.split(' ') ?? [];
  return args.flatMap((word, at) => {
    if (word === name) return args[at + 1] ?? [];
    return word.startsWith(`${name}=`) ? word.slice(name.length + 1) : [];
  });
};

/**
 * Removes the reports and the receipt of an earlier command from the files that this one writes: whatever it ends with, nobody must
 * take them for its result. Only files that rungate has written whole are removed.
 */
export function removeOlderFiles(args: readonly string[], io: Io): void {
  const { GITHUB_OUTPUT, GITHUB_STEP_SUMMARY } = io.env;
  const appended = [GITHUB_OUTPUT, GITHUB_STEP_SUMMARY].flatMap((path) => (path ? resolve(path) : []));
  for (const path of fileRows.flatMap((row) => valuesOf(args, row))) {
    const text = textOf(io, path) ?? '';
    if (appended.includes(resolve(path)) || !(isReceipt(text) || marks.some((mark) => mark.test(text))))
      continue;
    try {
      io.removeFile(path);
    } catch {
      // Writing it fails later, with an error that says why.
    }
  }
}
