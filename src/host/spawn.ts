import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { delimiter, resolve } from 'node:path';
import shebangCommand from 'shebang-command';
import which from 'which';
import { UsageError } from '../errors.ts';

/** Returns the file that Windows starts for a command: with one of the endings of `PATHEXT`, else without. */
function find(command: string, env: NodeJS.ProcessEnv): string | undefined {
  // Windows writes the name as `Path`.
  const path = Object.entries(env).findLast(([name]) => name.toUpperCase() === 'PATH')?.[1];
  const options = { nothrow: true, ...(path !== undefined && { path }) } as const;
  const file = which.sync(command, options) ?? which.sync(command, { ...options, pathExt: delimiter });
  return file === null ? undefined : resolve(file);
}

/** Returns the interpreter that the first line of a file names, with its option; null if it names none. */
function interpreterOf(file: string): string | null {
  const descriptor = openSync(file, 'r');
  try {
    const start = Buffer.alloc(150);
    return shebangCommand(start.toString('utf8', 0, readSync(descriptor, start)));
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Quotes an argument for a batch file as Rust's standard library does. cmd parses it again when the batch file passes it on, so
 * quotes are doubled: after a `\"`, the rest would be outside the quotes, and an `&` in it would start a command.
 */
function batchQuoted(text: string): string {
  if (/[\r\n]/.test(text)) {
    throw new UsageError('a batch file cannot receive an argument with a line break', {
      hint: 'start the program that the batch file starts, such as node <script>',
    });
  }
  // A backslash only has a meaning before a quote, and the closing quote is one.
  const closed = `${text}"`.replace(/\\+"?/g, (backslashes) =>
    backslashes.endsWith('"') ? `${backslashes.slice(0, -1).repeat(2)}"` : backslashes,
  );
  const doubled = `"${closed.replaceAll('"', '""').slice(0, -1)}`;
  // An empty part of a variable before each percent sign, so that two of them do not enclose the name of a variable.
  return doubled.replaceAll('%', '%%cd:~,%');
}

/** Returns the command line for cmd that runs a batch file. @throws UsageError if an argument has a line break */
export function batchLine(file: string, args: readonly string[]): string {
  return [file, ...args].map(batchQuoted).join(' ');
}

/**
 * Starts a command with its arguments unchanged, without a shell. On Windows, the command may also be a batch file, such as the
 * `.cmd` that npm writes for a package, or a script whose first line names its interpreter. `cmd /c` receives a single argument
 * as its command line.
 * @throws ENOENT on Windows if there is no such program: cmd would look for it in its own way, and parse the arguments
 * @throws UsageError on Windows if it is another file
 */
export function spawnCommand(
  [file = '', ...args]: readonly string[],
  options: SpawnOptions & { env: NodeJS.ProcessEnv },
): ChildProcess {
  if (process.platform !== 'win32') return spawn(file, args, options);
  const script = find(file, options.env);
  const interpreter = script === undefined ? null : interpreterOf(script);
  const [name = file, ...flags] = interpreter === null ? [] : interpreter.split(' ');
  const program = find(name, options.env);
  if (script === undefined || program === undefined) {
    throw Object.assign(new Error(`${name}: command not found`), { code: 'ENOENT' });
  }
  const all = interpreter === null ? args : [...flags, script, ...args];
  const verbatim = { ...options, windowsVerbatimArguments: true };
  const how = all.findIndex((argument) => /^\/[ck]$/i.test(argument));
  if (/[\\/]cmd\.exe$/i.test(program) && how !== -1 && how === all.length - 2) {
    // cmd does not know the `\"` that Node writes. With /s, it removes the first and the last quote.
    return spawn(program, ['/s', ...all.slice(0, -1), `"${all.at(-1)}"`], verbatim);
  }
  if (/\.(?:exe|com)$/i.test(program)) return spawn(program, all, options);
  if (!/\.(?:cmd|bat)$/i.test(program)) {
    // cmd would open the file with the program for its type, such as an editor, and pass if that starts.
    throw new UsageError(`${program} is not a program`, {
      hint: 'start the program that runs it: powershell -File <script>, or bash <script>',
    });
  }
  const shell = process.env.ComSpec ?? 'cmd.exe';
  return spawn(shell, ['/d', '/e:on', '/v:off', '/s', '/c', `"${batchLine(program, all)}"`], verbatim);
}
