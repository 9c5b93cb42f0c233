import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, onTestFinished } from 'vitest';

function removedBy(atEnd: (remove: () => void) => void): string {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-test-'));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates a folder that is removed at the end of the test. */
export const folderForTest = () => removedBy(onTestFinished);

/** Creates a folder, in the outermost part of a file, that is removed after its tests. */
export const folderForFile = () => removedBy(afterAll);
