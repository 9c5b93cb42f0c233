import { linkSync, readFileSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { systemClock } from '../clock.ts';
import { makeFolders } from './paths.ts';
import { stopSignals } from './process-events.ts';

export interface StateText {
  readonly text: string;
  /** Users other than its owner may read it. */
  readonly exposed: boolean;
  /** Another user owns it. */
  readonly foreign?: boolean;
}

/** Converts a file's text to data and back. */
interface StateFormat<Data> {
  /** @throws if the text is not valid */
  parse(text: string): Data;
  write(data: Data): string;
}

/**
 * A small file that several rungate processes read and change, readable only by its owner (0600). A reader sees the text
 * before or after a change, never a mixture; concurrent changes are applied one after another.
 *
 * `conf` writes the file. It has no lock, so this module adds one. Reads do not use `conf`, which takes time to import.
 */
export interface StateFile {
  /** Returns null if the file does not exist. @throws a file system error */
  read(): StateText | null;
  /**
   * Replaces the data with the result of `edit`; the data of a missing file is `{}`.
   * @throws a file system error, `ELOCKED` if the lock cannot be taken, and the errors of `parse` and `edit`
   */
  change<Data extends Record<string, unknown>>(
    format: StateFormat<Data>,
    edit: (data: Data) => Data,
  ): Promise<void>;
}

export interface StateFileOptions {
  /** Age at which a lock is stale; processes hold a lock for milliseconds only. */
  staleMs?: number;
  /** Time after which `ELOCKED` is thrown: the lock can be neither taken nor removed. */
  giveUpMs?: number;
}

const codeOf = (error: unknown) => (error as NodeJS.ErrnoException).code;

/** Returns the target of a link, so that a change replaces the target and not the link. */
function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

function readState(path: string): StateText | null {
  try {
    const stat = statSync(path);
    // Reading a pipe or a device might never end.
    if (!stat.isFile() && !stat.isDirectory())
      throw Object.assign(new Error(`EINVAL: not a file, '${path}'`), { code: 'EINVAL' });
    const foreign = process.geteuid !== undefined && stat.uid !== process.geteuid();
    return { exposed: (stat.mode & 0o077) !== 0, foreign, text: readFileSync(path, 'utf8') };
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

/** Removes a stale lock. A lock that another process has taken in the meantime is put back. */
function breakLock(lock: string, stale: string): void {
  const moved = `${lock}.${crypto.randomUUID()}`;
  try {
    renameSync(lock, moved);
    if (contentOf(moved) !== stale) linkSync(moved, lock);
  } catch {
    // Another process was faster; the next lock shows who holds it.
  } finally {
    rmSync(moved, { force: true });
  }
}

/** Imports `conf` without its listeners, which would send the process each signal once more. */
async function importConf() {
  const before = stopSignals.map((signal) => process.listeners(signal));
  const { default: Conf } = await import('conf');
  for (const [at, signal] of stopSignals.entries())
    for (const listener of process.listeners(signal))
      if (before[at]?.includes(listener) === false) process.off(signal, listener);
  return Conf;
}

export function openStateFile(
  filePath: string,
  { staleMs = 3000, giveUpMs = 20_000 }: StateFileOptions = {},
): StateFile {
  /** Does the work under the lock. The work is synchronous, so that the lock is held for milliseconds only. */
  async function locked<Result>(work: (path: string, isOurs: () => boolean) => Result): Promise<Result> {
    makeFolders(dirname(filePath), 0o700);
    const path = realPath(filePath);
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
    read: () => readState(filePath),
    async change(format, edit) {
      const Conf = await importConf();
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
      // `locked` returns false if another process took this lock for a stale one and may have written: start over.
      while (!(await locked(write)));
    },
  };
}
