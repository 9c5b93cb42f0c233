import {
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolders } from './paths.ts';

function draftName(place: string): string {
  return join(dirname(place), `.${basename(place).slice(0, 32)}.${crypto.randomUUID()}`);
}

/** Tells whether the path is a device, a pipe, or one of the system's links to an open file, such as /dev/stdout. */
function isStream(path: string): boolean {
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (isLink && /^\/(?:dev|proc)\//.test(resolve(path))) return true;
  return statSync(path, { throwIfNoEntry: false })?.isFile() === false;
}

/**
 * Writes to a stream, or at the end of the file that it leads to. Without O_NONBLOCK, opening a named pipe that has no reader
 * would block for ever.
 */
function writeThrough(path: string, text: string, patienceMs = 5000): void {
  // Windows has neither this flag nor named pipes in its file system.
  const file = openSync(path, constants.O_WRONLY | constants.O_APPEND | (constants.O_NONBLOCK ?? 0));
  try {
    let left: Buffer = Buffer.from(text);
    let since = performance.now();
    while (left.length > 0) {
      try {
        left = left.subarray(writeSync(file, left));
        since = performance.now();
      } catch (error) {
        const isFull = (error as NodeJS.ErrnoException).code === 'EAGAIN';
        if (!isFull || performance.now() - since > patienceMs) throw error;
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
      }
    }
  } finally {
    closeSync(file);
  }
}

/**
 * Replaces a file in one step and creates its missing parent folders: a reader sees the old text or the new one, whole.
 * A link is replaced, since a checkout may contain links to any file. A device, a pipe and `/dev/stderr` are written to directly.
 * @param patienceMs how long the reader of a pipe may pause; default 5 s
 * @throws a file system error, `ENXIO` for a named pipe without a reader, `EAGAIN` for a reader that pauses too long
 */
export function writeWholeFile(path: string, text: string, patienceMs?: number): void {
  if (isStream(path)) {
    writeThrough(path, text, patienceMs);
    return;
  }
  const stats = statSync(path, { throwIfNoEntry: false });
  const place = resolve(path);
  makeFolders(dirname(place));
  const draft = draftName(place);
  try {
    writeFileSync(draft, text, {
      flag: 'wx',
      mode: stats === undefined ? 0o666 : stats.mode & 0o777,
      flush: true,
    });
    renameSync(draft, place);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

/** Removes a regular file or a link to one, never a device or a pipe. @throws a file system error, also for a folder */
export function removeFile(path: string): void {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry?.isDirectory() === true || (entry !== undefined && !isStream(path))) unlinkSync(path);
}

function readableContent(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch {
    return new Uint8Array();
  }
}

export function appendToFile(path: string, textAfter: (content: Uint8Array) => string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) appendFileSync(path, textAfter(readableContent(path)));
  else writeThrough(path, textAfter(new Uint8Array()));
}

/** A new file that is to receive a secret. */
export interface SecretFile {
  /** @throws a file system error */
  write(text: string): void;
  /** Closes the file, and removes it unless it was written. */
  close(): void;
}

/**
 * Creates an empty file that only its owner may read (0600), so that it can be written later.
 * @throws a file system error; `EEXIST` if the path exists, even as a dangling link
 */
export function createSecretFile(path: string): SecretFile {
  const file = openSync(path, 'wx', 0o600);
  let isWritten = false;
  const isGone = () => fstatSync(file).nlink === 0;
  return {
    write(text) {
      // Or the secret would be in no file that has a path.
      if (isGone())
        throw Object.assign(new Error(`ENOENT: the file was replaced, '${path}'`), { code: 'ENOENT' });
      writeFileSync(file, text, { flush: true });
      isWritten = true;
    },
    close() {
      const isOurs = !isWritten && !isGone();
      closeSync(file);
      if (isOurs) rmSync(path, { force: true });
    },
  };
}
