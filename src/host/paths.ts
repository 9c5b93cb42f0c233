import {
  copyFileSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { ConfigError } from '../errors.ts';
import { onExit } from './process-events.ts';

export interface PathFacts {
  /** User ids of the owners of the path itself and of its target, if it is a link. */
  readonly owners: readonly number[];
  /** Whether it is a regular file or a link to one, and not a folder, a pipe or a device. */
  readonly isFile: boolean;
  /** Users other than its owner may read it; true on systems without file modes. */
  readonly exposed: boolean;
}

/** A dangling link exists, too. */
export function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** Returns the type and the owners of a path. @throws a file system error */
export function inspect(path: string): PathFacts {
  const target = statSync(path);
  return {
    owners: [lstatSync(path).uid, target.uid],
    isFile: target.isFile(),
    exposed: (target.mode & 0o077) !== 0,
  };
}

/** Returns the sorted names in a folder, or null for any other path. @throws a file system error */
export function namesInFolder(path: string): readonly string[] | null {
  return isFolder(path) ? readdirSync(path).toSorted() : null;
}

export const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Creates a folder and its missing parents. Node's recursive mkdir never returns below a folder that cannot have new
 * entries, such as `/proc`.
 * @param mode of each folder that is created, before the umask
 */
export function makeFolders(path: string, mode = 0o777): void {
  const folder = resolve(path);
  if (isFolder(folder)) return;
  if (dirname(folder) !== folder) makeFolders(dirname(folder), mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    // Another process may have created it in the meantime.
    if (!isFolder(folder)) throw error;
  }
}

function createTemporary(): string {
  try {
    return mkdtempSync(join(tmpdir(), 'rungate-'));
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    const hint = 'set TMPDIR (TEMP on Windows) to a folder that you may write to';
    throw new ConfigError(`cannot create a temporary folder in ${tmpdir()} (${code})`, { hint, cause });
  }
}

export type TemporaryFolder = ReturnType<typeof temporaryFolder>;

/**
 * Returns a folder of this process, removed when the process ends at the latest.
 * @throws ConfigError if the system's folder for temporary files is missing or cannot be written to
 */
export function temporaryFolder() {
  const path = createTemporary();
  /** Returns false if something in it could not be removed. */
  const remove = () => {
    forget();
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      return true;
    } catch {
      return false;
    }
  };
  const forget = onExit(remove);
  return {
    path,
    remove,
    /** Writes a file in it, creates the file's missing parents, and returns its path. */
    write(name: string, text: string, mode = 0o600) {
      const file = join(path, name);
      makeFolders(dirname(file), 0o700);
      writeFileSync(file, text, { mode });
      return file;
    },
    /** Copies a file into it, whose folder exists. */
    copy: (name: string, from: string) => copyFileSync(from, join(path, name)),
  };
}
