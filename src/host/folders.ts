import { mkdirSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const isFolder = (path: string) => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;

/**
 * Makes a folder and those above it, as far as they are missing. Node's own recursive mkdir never returns where a folder
 * cannot have entries, such as `/proc`.
 * @param mode of each folder that is made, before the umask
 * @throws what the file system says
 */
export function makeFolders(path: string, mode = 0o777): void {
  const missing: string[] = [];
  let at = resolve(path);
  while (statSync(at, { throwIfNoEntry: false }) === undefined && dirname(at) !== at) {
    missing.push(at);
    at = dirname(at);
  }
  // A file in the place of the folder: making it says so.
  if (missing.length === 0 && !isFolder(at)) missing.push(at);
  for (const folder of missing.reverse()) {
    try {
      mkdirSync(folder, mode);
    } catch (error) {
      // Another process may have made it in the meantime.
      if (!isFolder(folder)) throw error;
    }
  }
}
