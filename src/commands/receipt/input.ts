import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};

/**
 * Reads a file, or standard input for `-`.
 * @throws UsageError
 */
export async function readInput(io: Io, argument: string, path: string): Promise<Uint8Array> {
  try {
    return path === '-' ? await io.readStdin() : io.readFile(path);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new UsageError(`${argument}: cannot read ${path}: ${reasons[code] ?? code}`, {
      hint: 'pass the path of a file that you may read',
      cause,
    });
  }
}
