import { UsageError } from '../errors.ts';
import type { Io } from '../host/io.ts';
import { readProblem } from '../host/read-file.ts';

/** Returns the error for a file or a folder of the command line that cannot be read. */
export function unreadable(argument: string, path: string, cause: unknown): UsageError {
  return new UsageError(`${argument}: cannot read ${path}: ${readProblem(cause)}`, {
    hint: 'pass the path of a file, or - for standard input',
    cause,
  });
}

/** Reads a file, or standard input for `-`: all of it, or its first bytes. @throws UsageError */
export async function readInput(
  io: Io,
  argument: string,
  path: string,
  mostBytes?: number,
): Promise<Uint8Array> {
  try {
    return path === '-' ? await io.readStdin(mostBytes) : io.readFile(path, mostBytes);
  } catch (cause) {
    throw unreadable(argument, path, cause);
  }
}
