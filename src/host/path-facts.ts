import { lstatSync, statSync } from 'node:fs';

/** What a path is and whose. */
export interface PathFacts {
  /** User ids: of what is there and, where it is a link, of what it leads to. */
  readonly owners: readonly number[];
  /** A regular file, or a link to one: neither a folder nor what could be read for ever. */
  readonly isFile: boolean;
}

/** Whether the path exists; a dangling link does. */
export function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}

/** @throws what the file system says */
export function inspect(path: string): PathFacts {
  const target = statSync(path);
  return { owners: [lstatSync(path).uid, target.uid], isFile: target.isFile() };
}
