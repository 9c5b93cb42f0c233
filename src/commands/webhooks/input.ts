import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';

function unreadable(option: string, path: string, cause: unknown): UsageError {
  const { code } = cause as NodeJS.ErrnoException;
  const reasons: Record<string, string> = {
    ENOENT: 'there is no such file',
    EISDIR: 'it is a folder',
    EACCES: 'it is not allowed',
  };
  return new UsageError(`${option}: ${path} cannot be read: ${reasons[code ?? ''] ?? code ?? 'unknown'}`, {
    hint: 'name a file, or - for standard input',
    cause,
  });
}

/** The bytes of a file, or of standard input for `-`, as they come; each part holds until the next is asked for. */
export async function* streamInput(io: Io, option: string, path: string): AsyncGenerator<Uint8Array> {
  try {
    yield* path === '-' ? io.streamStdin() : io.streamFile(path);
  } catch (cause) {
    // What the consumer throws never gets here: a generator that is left is ended, not thrown at.
    throw unreadable(option, path, cause);
  }
}

/** More than any headers have. */
const mostHeaderBytes = 1024 * 1024;

/** A small file, whole. */
export async function readInput(io: Io, option: string, path: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of streamInput(io, option, path)) {
    size += chunk.length;
    if (size > mostHeaderBytes) {
      throw new UsageError(`${option}: ${path} is larger than any headers are`, {
        hint: 'name the file of the headers; the body goes with --body-file',
      });
    }
    chunks.push(new Uint8Array(chunk));
  }
  return Buffer.concat(chunks);
}
