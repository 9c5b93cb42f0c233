import { lstatSync, mkdirSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { onExit } from './process-events.ts';

/** What a path is and whose. */
export interface PathFacts {
  /** User ids: of what is there and, where it is a link, of what it leads to. */
  readonly owners: readonly number[];
  /** A regular file, or a link to one: neither a folder nor what could be read for ever. */
  readonly isFile: boolean;
}

/** Whether the path exists; a dangling link does. */
export function exists(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

export function inspect(path: string): PathFacts {
  const target = statSync(path);
  return { owners: [lstatSync(path).uid, target.uid], isFile: target.isFile() };
}

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Makes a folder and those above it, as far as they are missing. Node's own recursive mkdir never returns where a folder
 * cannot have entries, such as `/proc`.
 * @param mode of each folder that is made, before the umask
 */
export function makeFolders(path: string, mode = 0o777): void {
  const folder = resolve(path);
  if (isFolder(folder)) return;
  if (dirname(folder) !== folder) makeFolders(dirname(folder), mode);
  try {
    mkdirSync(folder, mode);
  } catch (error) {
    // Another process may have made it in the meantime.
    if (!isFolder(folder)) throw error;
  }
}

/** A folder for this process alone, gone at the latest when the process ends. */
export interface TemporaryFolder {
  readonly path: string;
  /** Writes a file below it, with the folders above it, and returns its path. */
  write(name: string, text: string, mode?: number): string;
  /** False when something in it could not be removed. */
  remove(): boolean;
}

export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'rungate-'));
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
    write(name, text, mode = 0o600) {
      const file = join(path, name);
      makeFolders(dirname(file), 0o700);
      writeFileSync(file, text, { mode });
      return file;
    },
  };
}
