import {
  close,
  closeSync,
  constants,
  fstatSync,
  open,
  openSync,
  read,
  readFileSync,
  readSync,
  statSync,
} from 'node:fs';
import { promisify } from 'node:util';
import { CollectedBytes } from '../collected-bytes.ts';

const [openFile, readSome, closeFile] = [promisify(open), promisify(read), promisify(close)];

/** How long the writer of a pipe may give nothing. */
const usualPatienceMs = 10_000;
const mostBytes = 64 * 1024 * 1024;
/** Four times Node's own: a large file is read at the rate of its disk, and the memory is still next to nothing. */
export const partBytes = 256 * 1024;

const problem = (code: string, message: string) => Object.assign(new Error(`${code}: ${message}`), { code });

/** The bytes there are by now; null where the writer has given none. */
function nextPart(file: number): Uint8Array | null {
  const part = new Uint8Array(64 * 1024);
  try {
    return part.subarray(0, readSync(file, part));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null;
    throw error;
  }
}

/** Reads a pipe or a device to its end. */
function readThrough(file: number, patienceMs: number): Uint8Array {
  const isPipe = fstatSync(file).isFIFO();
  const body = new CollectedBytes(mostBytes);
  let since = performance.now();
  for (;;) {
    const part = nextPart(file);
    // A pipe that nobody has opened to write yet looks like one at its end.
    const isWaiting = part === null || (part.length === 0 && isPipe && body.length === 0);
    if (isWaiting && performance.now() - since > patienceMs) {
      throw problem('ETIMEDOUT', `nothing came in ${patienceMs / 1000} s`);
    }
    if (isWaiting) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    } else if (part.length === 0) {
      return body.bytes();
    } else {
      if (!body.add(part)) throw problem('EFBIG', 'it does not end');
      since = performance.now();
    }
  }
}

/**
 * Reads a file, a pipe or a device to its end.
 * @param patienceMs how long the writer of a pipe may give nothing; default 10 s
 * @throws what the file system says, `ETIMEDOUT` for a pipe that gives nothing, `EFBIG` for a device that does not end
 */
export function readWholeFile(path: string, patienceMs = usualPatienceMs): Uint8Array {
  // Opened to wait, a named pipe without a writer would block the process for ever. Windows has no such flag.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    return fstatSync(file).isFile() ? readFileSync(file) : readThrough(file, patienceMs);
  } finally {
    closeSync(file);
  }
}

/** Returns a `readWholeFile` that keeps what came of a pipe or a device, since a pipe gives its content once. */
export function pipesReadOnce(patienceMs?: number): (path: string) => Uint8Array {
  const kept = new Map<string, () => Uint8Array>();
  const read = (path: string): (() => Uint8Array) => {
    try {
      const bytes = readWholeFile(path, patienceMs);
      return () => bytes;
    } catch (error) {
      return () => {
        throw error;
      };
    }
  };
  return (path) => {
    const outcome = kept.get(path) ?? read(path);
    const there = statSync(path, { throwIfNoEntry: false });
    if (there !== undefined && !there.isFile()) kept.set(path, outcome);
    return outcome();
  };
}

/**
 * A file in parts; each holds until the next is asked for. While one is looked at, the next is read into the other of
 * two buffers. Not a stream, which takes a new buffer for each part: the collector lets some 64 MiB of them gather on
 * Node 24 and later, 32 MiB before.
 * @throws what the file system says, when the first part is asked for or at the part that cannot be read
 */
export async function* fileParts(path: string): AsyncGenerator<Uint8Array> {
  const file = await openFile(path, 'r');
  const readInto = (buffer: Buffer) => readSome(file, buffer, 0, buffer.length, null);
  let [current, other] = [Buffer.allocUnsafeSlow(partBytes), Buffer.allocUnsafeSlow(partBytes)];
  let ahead = readInto(current);
  try {
    for (;;) {
      const { bytesRead } = await ahead;
      if (bytesRead === 0) return;
      ahead = readInto(other);
      // Whoever leaves before the end never asks what came of it.
      ahead.catch(() => {});
      yield current.subarray(0, bytesRead);
      [current, other] = [other, current];
    }
  } finally {
    // Not waited for: the writer of a named pipe may rest for as long as it likes.
    const shut = () => closeFile(file);
    void ahead.then(shut, shut).catch(() => {});
  }
}
