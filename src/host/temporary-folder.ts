import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { makeFolders } from './folders.ts';

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
    process.off('exit', remove);
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      return true;
    } catch {
      return false;
    }
  };
  process.on('exit', remove);
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
