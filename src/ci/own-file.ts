import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readFileSync,
  type Stats,
  statSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';

// Windows has neither O_NOFOLLOW nor O_NONBLOCK. Without O_NONBLOCK, opening a pipe waits for its other end.
const { O_APPEND, O_CREAT, O_RDONLY, O_WRONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;
const groupAndOthersWrite = 0o022;

/** Returns the current user's id; null if the system has no user ids. */
function ownUid(): number | null {
  try {
    const { uid } = userInfo();
    return uid < 0 ? null : uid;
  } catch {
    // The user has no account, as in many containers.
    return statSync('/proc/self', { throwIfNoEntry: false })?.uid ?? null;
  }
}

/** Returns why another user may have written to the file, or null. */
function problemOf(file: Stats): string | null {
  if (!file.isFile()) return 'it is not a file';
  const uid = ownUid();
  if (uid === null) return null;
  if (file.uid !== uid) return 'it belongs to another user';
  if ((file.mode & groupAndOthersWrite) !== 0) return 'other users may write to it';
  // In a shared folder, another user could have planted a hard link to one of this user's files.
  return file.nlink > 1 ? 'it has a second hard link' : null;
}

/** Opens the file without following a link. It checks the open file, since the path may be replaced at any time. */
function withOwn<T>(path: string, flags: number, use: (fd: number) => T): T {
  const fd = openSync(path, flags | O_NOFOLLOW | O_NONBLOCK, 0o600);
  try {
    const problem = problemOf(fstatSync(fd));
    if (problem !== null) throw new Error(problem);
    return use(fd);
  } finally {
    closeSync(fd);
  }
}

/**
 * Returns the text of a file that only the current user can have written; empty if it does not exist.
 * @throws Error with the reason why the file cannot be used
 */
export function readOwnFile(path: string): string {
  try {
    return withOwn(path, O_RDONLY, (fd) => readFileSync(fd, 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

/**
 * Appends to a file that only the current user can write to, and creates a missing file with mode 0600.
 * @throws Error with the reason why the file cannot be used
 */
export function appendOwnFile(path: string, text: string): void {
  withOwn(path, O_WRONLY | O_APPEND | O_CREAT, (fd) => writeFileSync(fd, text));
}
