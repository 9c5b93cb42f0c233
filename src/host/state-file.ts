import { linkSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { systemClock } from '../clock.ts';
import { makeFolders } from './paths.ts';

export interface StateText {
  readonly text: string;
  /** Others than its owner may read it. */
  readonly exposed: boolean;
}

/** How a file is read and written. */
export interface StateFormat<Data> {
  /** @throws whatever is wrong with the text */
  parse(text: string): Data;
  write(data: Data): string;
}

/**
 * A small file of ours that several processes read and change, readable by its owner alone (0600). A reader sees it as
 * it was before a change or after it, never in between; changes at the same time come one after another.
 *
 * `conf` writes it; the lock is ours, because `conf` has none. Reading does without `conf`: once that is imported, the
 * first Ctrl-C arrives twice, and a gate would end without cancelling its run.
 */
export interface StateFile {
  /** Returns null when there is no file. @throws a file system error */
  read(): StateText | null;
  /**
   * Replaces the data by what `edit` returns; a file that does not exist is `{}`.
   * @throws a file system error, `ELOCKED` when the lock cannot be taken, and what `parse` and `edit` throw
   */
  change<Data extends Record<string, unknown>>(
    format: StateFormat<Data>,
    edit: (data: Data) => Data,
  ): Promise<void>;
  /** Renames it if it still has that text. Returns its new path, or null when somebody has changed it since. */
  setAside(text: string, suffix: string): Promise<string | null>;
}

export interface StateFileOptions {
  /** A lock that stays as it is for so long was left behind: it is held for milliseconds. */
  staleMs?: number;
  /** After which somebody must look: the lock can be neither had nor taken away. */
  giveUpMs?: number;
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** The file that a link leads to: replacing the link would part it from the folder it is kept in. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function readText(path: string): StateText | null {
  try {
    const stat = statSync(path);
    // A pipe or a device could be read for ever.
    if (!stat.isFile() && !stat.isDirectory())
      throw Object.assign(new Error(`EINVAL: not a file, '${path}'`), { code: 'EINVAL' });
    return { exposed: (stat.mode & 0o077) !== 0, text: readFileSync(path, 'utf8') };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null;
    throw error;
  }
}

function contentOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}

function tryLock(lock: string, token: string): boolean {
  try {
    writeFileSync(lock, token, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** Takes a lock away whose holder has gone. One that was taken anew in the meantime is put back. */
function breakLock(lock: string, stale: string): void {
  const moved = `${lock}.${crypto.randomUUID()}`;
  try {
    renameSync(lock, moved);
    if (contentOf(moved) !== stale) linkSync(moved, lock);
  } catch {
    // Somebody else was faster; whoever holds it then is found out by trying.
  } finally {
    rmSync(moved, { force: true });
  }
}

export function openStateFile(
  given: string,
  { staleMs = 3000, giveUpMs = 20_000 }: StateFileOptions = {},
): StateFile {
  /** Does the work with nobody else at it. Nothing in it waits, so that a lock is held for milliseconds. */
  async function locked<Result>(work: (path: string, isOurs: () => boolean) => Result): Promise<Result> {
    makeFolders(dirname(given), 0o700);
    const path = realPath(given);
    const lock = `${path}.lock`;
    const token = crypto.randomUUID();
    let seen: string | null = null;
    const start = performance.now();
    let since = start;
    while (!tryLock(lock, token)) {
      if (performance.now() - start > giveUpMs) {
        throw Object.assign(new Error(`ELOCKED: locked by ${lock}`), { code: 'ELOCKED' });
      }
      const holder = contentOf(lock);
      if (holder !== seen || holder === null) {
        seen = holder;
        since = performance.now();
      } else if (performance.now() - since > staleMs) {
        breakLock(lock, holder);
      }
      await systemClock.sleep(2 + Math.random() * 10);
    }
    try {
      return work(path, () => contentOf(lock) === token);
    } finally {
      if (contentOf(lock) === token) rmSync(lock, { force: true });
    }
  }

  return {
    read: () => readText(given),
    async change(format, edit) {
      const { default: Conf } = await import('conf');
      const write = (path: string, isOurs: () => boolean) => {
        const conf = new Conf({
          cwd: dirname(path),
          configName: basename(path),
          fileExtension: '',
          configFileMode: 0o600,
          deserialize: format.parse,
          serialize: format.write,
        });
        const data = edit(conf.store);
        if (!isOurs()) return false;
        conf.store = data;
        return true;
      };
      // False when our lock was taken for one left behind: then another process may have written, and we start over.
      while (!(await locked(write)));
    },
    setAside: (text, suffix) =>
      locked((path) => {
        if (readText(path)?.text !== text) return null;
        const aside = `${path}.${suffix}`;
        renameSync(path, aside);
        return aside;
      }),
  };
}
