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
import { systemClock } from '../clock.ts';
import { CollectedBytes } from '../collected-bytes.ts';

const [openFile, readSome, closeFile] = [promisify(open), promisify(read), promisify(close)];

/** How long the writer of a pipe may give nothing. */
const usualPatienceMs = 10_000;
/** How long to leave alone what has nothing yet. */
const pauseMs = 5;
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
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
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
 * An open file in parts, in one buffer: each holds until the next is asked for. Not a stream: the collector lets some
 * 64 MiB of a stream's buffers gather, and a stream fails, and drops what it has read ahead, where standard input does not
 * wait for its writer (EAGAIN). It is so as soon as anybody looks at `process.stdin`, and when the parent process left it
 * so. Nothing is read ahead, since a read that nobody waits for would keep the process.
 */
async function* partsOf(file: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(partBytes);
  for (;;) {
    try {
      const { bytesRead } = await readSome(file, buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // What Windows says at the end of a pipe.
      if (code === 'EOF') return;
      if (code !== 'EAGAIN') throw error;
      await systemClock.sleep(pauseMs);
    }
  }
}

export async function* streamFile(path: string): AsyncGenerator<Uint8Array> {
  const file = await openFile(path, 'r');
  try {
    yield* partsOf(file);
  } finally {
    await closeFile(file);
  }
}

export const streamStdin = () => partsOf(0);

export async function readStdin(): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  for await (const part of streamStdin()) parts.push(new Uint8Array(part));
  return Buffer.concat(parts);
}
