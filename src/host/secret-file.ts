import {
  closeSync,
  constants,
  copyFileSync,
  linkSync,
  lstatSync,
  openSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { resolve } from 'node:path';
import { draftName } from './unused-name.ts';

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
