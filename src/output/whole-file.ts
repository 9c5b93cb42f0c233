import { mkdirSync, realpathSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { draftName } from './unused-name.ts';

/**
 * Puts a file in its place in one step, with the folders above it: whoever reads it sees the one before or this one, whole.
 * A link stays one; what is no file (`/dev/stderr`, a named pipe) is written to as it is.
 * @throws what the file system says
 */
export function writeWholeFile(path: string, text: string): void {
  const there = statSync(path, { throwIfNoEntry: false });
  if (there !== undefined && !there.isFile()) {
    writeFileSync(path, text);
    return;
  }
  const place = there === undefined ? resolve(path) : realpathSync(path);
  mkdirSync(dirname(place), { recursive: true });
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
