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
import { type Clock, systemClock, within } from '../clock.ts';
import { CollectedBytes } from '../collected-bytes.ts';

const [openFile, readSome, closeFile] = [promisify(open), promisify(read), promisify(close)];

/** How long the writer of a pipe may stay silent. */
const defaultPatienceMs = 10_000;
/** How long standard input may stay silent without a notice. A pending read of it cannot be ended, so there is no limit. */
export const silenceMs = 5_000;
/** Pause before the next read of a pipe that has no data yet. */
const pauseMs = 5;
const mostMiB = 64;
/** Four times Node's default: a large file is read as fast as its disk allows, and the buffer is still small. */
export const partBytes = 256 * 1024;

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'no such file',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
};

export function readProblem(error: unknown): string {
  const { code = 'unknown' } = error as NodeJS.ErrnoException;
  return reasons[code] ?? code;
}

const problem = (code: string, message: string) => Object.assign(new Error(`${code}: ${message}`), { code });

/** Returns the bytes that have arrived, or null if there are none yet. */
function nextPart(file: number): Uint8Array | null {
  const part = new Uint8Array(64 * 1024);
  try {
    return part.subarray(0, readSync(file, part));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EAGAIN') return null;
    throw error;
  }
}

/** Reads a pipe or a device to its end, or the first bytes of any file. */
function readThrough(file: number, mostBytes: number, patienceMs: number): Uint8Array {
  const isPipe = fstatSync(file).isFIFO();
  const body = new CollectedBytes(mostMiB * 1024 * 1024);
  let since = performance.now();
  for (;;) {
    const part = nextPart(file);
    // A pipe that has no writer yet looks like a pipe at its end.
    const isWaiting = part === null || (part.length === 0 && isPipe && body.length === 0);
    if (isWaiting && performance.now() - since > patienceMs) {
      throw problem('ETIMEDOUT', `no data arrived in ${patienceMs / 1000} s`);
    }
    if (isWaiting) {
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMs);
    } else if (part.length === 0 || body.length >= mostBytes) {
      return body.bytes().subarray(0, mostBytes);
    } else {
      if (!body.add(part)) throw problem('EFBIG', `more than ${mostMiB} MiB`);
      since = performance.now();
    }
  }
}

/**
 * Reads a file, or a pipe or a device to its end.
 * @param mostBytes the number of bytes after which the rest is not read; default all
 * @param patienceMs how long the writer of a pipe may stay silent; default 10 s
 * @throws a file system error, `ETIMEDOUT` for a pipe that stays silent, `EFBIG` for a pipe or a device of more than 64 MiB
 */
export function readWholeFile(
  path: string,
  mostBytes = Number.POSITIVE_INFINITY,
  patienceMs = defaultPatienceMs,
): Uint8Array {
  // Without O_NONBLOCK, opening a named pipe that has no writer would block the process for ever. Windows has no such flag.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const isWhole = fstatSync(file).isFile() && mostBytes === Number.POSITIVE_INFINITY;
    return isWhole ? readFileSync(file) : readThrough(file, mostBytes, patienceMs);
  } finally {
    closeSync(file);
  }
}

/** Returns a `readWholeFile` that remembers the content of pipes and devices, since a pipe can be read only once. */
export function pipesReadOnce(): (path: string, mostBytes?: number) => Uint8Array {
  const contents = new Map<string, Uint8Array>();
  return (path, mostBytes) => {
    const known = contents.get(path);
    if (known !== undefined) return known;
    const bytes = readWholeFile(path, mostBytes);
    if (statSync(path, { throwIfNoEntry: false })?.isFile() === false) contents.set(path, bytes);
    return bytes;
  };
}

/**
 * Yields an open file in parts that share one buffer: each part is valid until the next one is requested. This is not a
 * stream, for two reasons. A stream's buffers grow to about 64 MiB before they are collected. And if standard input is
 * non-blocking (EAGAIN), a stream fails and loses the data that it has read ahead; standard input is non-blocking once
 * anything touches `process.stdin`, or if the parent process made it so. Nothing is read ahead, since a pending read would
 * keep the process alive.
 */
async function* fileParts(file: number): AsyncGenerator<Uint8Array> {
  const buffer = Buffer.allocUnsafeSlow(partBytes);
  for (;;) {
    try {
      const { bytesRead } = await readSome(file, buffer, 0, buffer.length, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      // Windows reports the end of a pipe as an error.
      if (code === 'EOF') return;
      if (code !== 'EAGAIN') throw error;
      await systemClock.sleep(pauseMs);
    }
  }
}

/** Yields a file in parts, in constant memory, each valid until the next one. File system errors are thrown while it is read. */
export async function* streamFile(path: string): AsyncGenerator<Uint8Array> {
  const file = await openFile(path, 'r');
  try {
    yield* fileParts(file);
  } finally {
    await closeFile(file);
  }
}

/** Yields the parts, and calls back once if the first one has not arrived after `silenceMs`. */
export async function* withNotice(
  parts: AsyncGenerator<Uint8Array>,
  onSilence: () => void,
  clock: Clock,
): AsyncGenerator<Uint8Array> {
  const first = parts.next();
  if ((await within(silenceMs, first, clock)) === undefined) onSilence();
  const { done, value } = await first;
  if (done === true) return;
  yield value;
  yield* parts;
}

export const streamStdin = (onSilence: () => void) => withNotice(fileParts(0), onSilence, systemClock);

export async function readParts(
  parts: AsyncIterable<Uint8Array>,
  mostBytes = Number.POSITIVE_INFINITY,
): Promise<Uint8Array> {
  const copies: Uint8Array[] = [];
  let length = 0;
  for await (const part of parts) {
    copies.push(new Uint8Array(part));
    length += part.length;
    if (length >= mostBytes) break;
  }
  return Buffer.concat(copies).subarray(0, mostBytes);
}
