import {
  accessSync,
  appendFileSync,
  closeSync,
  constants,
  fstatSync,
  ftruncateSync,
  lstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  unlinkSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isFolder, makeFolders } from './paths.ts';

function draftName(target: string): string {
  return join(dirname(target), `.${basename(target).slice(0, 32)}.${crypto.randomUUID()}`);
}

/** How long the reader of a pipe may pause. */
const patienceMs = 5_000;

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
function writeThrough(path: string, text: string): void {
  // Windows has neither this flag nor named pipes in its file system.
  const file = openSync(path, constants.O_WRONLY | constants.O_APPEND | (constants.O_NONBLOCK ?? 0));
  try {
    let rest: Buffer = Buffer.from(text);
    let since = performance.now();
    while (rest.length > 0) {
      try {
        rest = rest.subarray(writeSync(file, rest));
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

/** The file is mounted by itself, as a container engine does, so that nothing can be renamed over it. */
const isMounted = (error: unknown) =>
  ['EBUSY', 'EXDEV'].includes((error as NodeJS.ErrnoException).code ?? '');

/**
 * Replaces the text of a mounted file in place. It follows no link, and writes to no other file than the one that was seen before.
 * @throws `error` if that is not possible
 */
function writeInPlace(path: string, text: string, before: Stats | undefined, error: unknown): void {
  if (!isMounted(error) || before?.isFile() !== true) throw error;
  const file = openSync(path, constants.O_WRONLY | (constants.O_NOFOLLOW ?? 0));
  try {
    const { dev, ino } = fstatSync(file);
    if (dev !== before.dev || ino !== before.ino) throw error;
    ftruncateSync(file);
    writeFileSync(file, text, { flush: true });
  } finally {
    closeSync(file);
  }
}

/**
 * Replaces a file in one step and creates its missing parent folders: a reader sees the old text or the new one, whole.
 * A link is replaced, since a checkout may contain links to any file. A device, a pipe and `/dev/stderr` are written to directly,
 * and so is a file that is mounted by itself.
 * @throws a file system error, `ENXIO` for a named pipe without a reader, `EAGAIN` for a reader that pauses too long
 */
export function writeWholeFile(path: string, text: string): void {
  if (isStream(path)) {
    writeThrough(path, text);
    return;
  }
  const stats = statSync(path, { throwIfNoEntry: false });
  const target = resolve(path);
  const before = lstatSync(target, { throwIfNoEntry: false });
  makeFolders(dirname(target));
  const draft = draftName(target);
  try {
    writeFileSync(draft, text, {
      flag: 'wx',
      mode: stats === undefined ? 0o666 : stats.mode & 0o777,
      flush: true,
    });
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    writeInPlace(target, text, before, error);
  }
}

/** Returns the nearest folder that exists, or the file in its place. */
function existingParent(path: string): string {
  const parent = dirname(path);
  return parent === path || statSync(parent, { throwIfNoEntry: false }) !== undefined
    ? parent
    : existingParent(parent);
}

/**
 * Checks that `writeWholeFile` can write, and leaves a file at the path as it is. A pipe is not opened, since closing it would be the
 * end for its reader.
 * @throws the file system error that writing would throw
 */
export function checkWritable(path: string): void {
  if (isFolder(path)) closeSync(openSync(path, constants.O_WRONLY));
  if (isStream(path)) {
    accessSync(path, constants.W_OK);
    return;
  }
  const target = resolve(path);
  // Only a new file shows all: root may write to a read-only folder, and nobody to /proc.
  const draft = draftName(join(existingParent(target), basename(target)));
  closeSync(openSync(draft, 'wx'));
  rmSync(draft);
  try {
    accessSync(target, constants.W_OK);
  } catch (error) {
    // Any other file is replaced; this one is mounted by itself.
    if ((error as NodeJS.ErrnoException).code === 'EROFS') throw error;
  }
}

/**
 * Removes a regular file or a link to one, never a device or a pipe. A file that is mounted by itself is emptied.
 * @throws a file system error, also for a folder
 */
export function removeFile(path: string): void {
  const entry = lstatSync(path, { throwIfNoEntry: false });
  if (entry === undefined || (!entry.isDirectory() && isStream(path))) return;
  try {
    unlinkSync(path);
  } catch (error) {
    writeInPlace(path, '', entry, error);
  }
}

function readableContent(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch {
    return new Uint8Array();
  }
}

/** Appends the text that `textAfter` returns for the content, which is empty unless this is a readable regular file. */
export function appendToFile(path: string, textAfter: (content: Uint8Array) => string): void {
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats === undefined || stats.isFile()) appendFileSync(path, textAfter(readableContent(path)));
  else writeThrough(path, textAfter(new Uint8Array()));
}

export type SecretFile = ReturnType<typeof createSecretFile>;

/**
 * Creates an empty file that only its owner may read (0600), so that it can be written later.
 * @throws a file system error; `EEXIST` if the path exists, even as a dangling link
 */
export function createSecretFile(path: string) {
  const file = openSync(path, 'wx', 0o600);
  let isWritten = false;
  const isGone = () => fstatSync(file).nlink === 0;
  return {
    /** @throws a file system error */
    write(text: string): void {
      // Or the secret would be in no file that has a path.
      if (isGone())
        throw Object.assign(new Error(`ENOENT: the file was replaced, '${path}'`), { code: 'ENOENT' });
      writeFileSync(file, text, { flush: true });
      isWritten = true;
    },
    /** Closes the file, and removes it unless it was written. */
    close(): void {
      const isOurs = !isWritten && !isGone();
      closeSync(file);
      if (isOurs) rmSync(path, { force: true });
    },
  };
}
