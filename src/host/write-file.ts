import {
  appendFileSync,
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { makeFolders } from './paths.ts';

/** The name of a file beside `place` that is not there yet, for what is being written. */
function draftName(place: string): string {
  return join(dirname(place), `.${basename(place).slice(0, 32)}.${crypto.randomUUID()}`);
}

const pipeProblems: Readonly<Record<string, string | undefined>> = {
  ENXIO: 'no process reads this pipe',
  EAGAIN: 'the reader of this pipe takes nothing',
};

/** Writes to a device or a pipe. Opened to wait, a named pipe without a reader would block the process for ever. */
function writeThrough(path: string, text: string, patienceMs = 5000): void {
  let file: number | undefined;
  try {
    // Windows has no such flag, and no pipes among its files.
    file = openSync(path, constants.O_WRONLY | (constants.O_NONBLOCK ?? 0));
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
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    const reason = statSync(path).isFIFO() ? pipeProblems[code] : undefined;
    throw reason === undefined ? error : Object.assign(new Error(reason), { code });
  } finally {
    if (file !== undefined) closeSync(file);
  }
}

/**
 * Puts a file in its place in one step, with the folders above it: whoever reads it sees the one before or this one, whole.
 * A link stays one; what is no file (`/dev/stderr`, a named pipe) is written to as it is.
 * @param patienceMs how long a reader of a pipe may take nothing; default 5 s
 * @throws what the file system says, `ENXIO` for a named pipe without a reader, `EAGAIN` for one that does not read
 */
export function writeWholeFile(path: string, text: string, patienceMs?: number): void {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isFile()) {
    writeThrough(path, text, patienceMs);
    return;
  }
  const place = there === undefined ? resolve(path) : realpathSync(path);
  makeFolders(dirname(place));
  const draft = draftName(place);
  try {
    writeFileSync(draft, text, {
      flag: 'wx',
      mode: there === undefined ? 0o666 : there.mode & 0o777,
      flush: true,
    });
    renameSync(draft, place);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

function contentOf(path: string): Uint8Array {
  try {
    return readFileSync(path);
  } catch {
    return new Uint8Array();
  }
}

/**
 * Appends what `textAfter` returns for the content, which is empty if the file cannot be read or is not a regular file.
 * @throws what the file system says, `ENXIO` for a named pipe without a reader
 */
export function appendToFile(path: string, textAfter: (content: Uint8Array) => string): void {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there === undefined || there.isFile()) appendFileSync(path, textAfter(contentOf(path)));
  else writeThrough(path, textAfter(new Uint8Array()));
}

/** A file that is being prepared: nothing is in its place before it is complete. */
export interface SecretFile {
  /** Puts the text in its place, in one step. @throws what the file system says, also when something is there by now */
  write(text: string): void;
  /** Leaves nothing behind. */
  discard(): void;
}

/** Files that cannot be linked (some network and USB drives) are copied: as new, with the mode of what is copied. */
function publish(draft: string, place: string): void {
  try {
    linkSync(draft, place);
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException;
    if (!['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EMLINK'].includes(code)) throw error;
    copyFileSync(draft, place, constants.COPYFILE_EXCL);
  }
}

/**
 * Prepares a new file that its owner alone may read (0600), and finds out now what would be in its way later: a
 * directory that is not there or may not be written to, and anything in its place, a dangling link included.
 * @throws what the file system says; `EEXIST` when something is there
 */
export function createSecretFile(path: string): SecretFile {
  const place = resolve(path);
  if (lstatSync(place, { throwIfNoEntry: false }) !== undefined) {
    throw Object.assign(new Error(`EEXIST: file already exists, '${path}'`), { code: 'EEXIST' });
  }
  const draft = draftName(place);
  const file = openSync(draft, 'wx', 0o600);
  let open = true;
  const discard = () => {
    if (open) closeSync(file);
    open = false;
    rmSync(draft, { force: true });
  };
  return {
    write(text) {
      try {
        writeFileSync(file, text, { flush: true });
        publish(draft, place);
      } finally {
        discard();
      }
    },
    discard,
  };
}
