import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import crossSpawn from 'cross-spawn';
import { UsageError } from '../errors.ts';

/** The part of cross-spawn that looks a command up on the path, on Windows only. */
const { _parse: parse } = crossSpawn as unknown as {
  _parse(file: string, args: readonly string[], options: SpawnOptions): { file?: string };
};

/**
 * Quotes an argument for a batch file as Rust's standard library does. cmd parses it again when the batch file passes it on, so
 * quotes are doubled: after the `\"` of cross-spawn, the rest would be outside the quotes, and an `&` in it would start a command.
 */
function quoted(text: string): string {
  if (/[\r\n]/.test(text)) {
    throw new UsageError('a batch file cannot receive an argument with a line break', {
      hint: 'start the program that the batch file starts, such as node <script>',
    });
  }
  // A backslash only has a meaning before a quote, and the closing quote is one.
  const closed = `${text}"`.replace(/\\+"?/g, (found) =>
    found.endsWith('"') ? `${found.slice(0, -1).repeat(2)}"` : found,
  );
  const doubled = `"${closed.replaceAll('"', '""').slice(0, -1)}`;
  // An empty part of a variable before each percent sign, so that two of them do not enclose the name of a variable.
  return doubled.replaceAll('%', '%%cd:~,%');
}

/** Returns the command line for cmd that runs a batch file. @throws UsageError if an argument has a line break */
export function batchLine(file: string, args: readonly string[]): string {
  return [file, ...args].map(quoted).join(' ');
}

/**
 * Starts a command with its arguments unchanged, without a shell. On Windows, the command may also be a batch file, such as the
 * `.cmd` that npm writes for a package, or a script whose first line names its interpreter.
 */
export function spawnCommand(
  [file = '', ...args]: readonly string[],
  options: SpawnOptions & { env: NodeJS.ProcessEnv },
): ChildProcess {
  const found = parse(file, args, options).file;
  if (found === undefined || !/\.(?:cmd|bat)$/i.test(found)) return crossSpawn(file, args, options);
  const shell = process.env.ComSpec ?? 'cmd.exe';
  return spawn(shell, ['/d', '/e:on', '/v:off', '/s', '/c', `"${batchLine(found, args)}"`], {
    ...options,
    windowsVerbatimArguments: true,
  });
}
