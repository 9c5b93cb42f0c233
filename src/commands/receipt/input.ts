import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { maxBytes } from '../../receipt/dsse.ts';

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};

/** `-` is standard input. Returns no more than the first bytes that are too many for a receipt. @throws UsageError */
export async function readInput(io: Io, argument: string, path: string): Promise<Uint8Array> {
  try {
    return path === '-' ? await io.readStdin(maxBytes + 1) : io.readFile(path, maxBytes + 1);
  } catch (cause) {
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new UsageError(`${argument}: cannot read ${path}: ${reasons[code] ?? code}`, {
      hint: 'pass the path of a file that you may read',
      cause,
    });
  }
}
