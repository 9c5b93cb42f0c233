import { join } from 'node:path';
import type { Io } from '../../host/io.ts';
import { maxBytes } from '../../receipt/dsse.ts';
import { readInput, unreadable } from '../read-input.ts';

/** Returns no more than the first bytes that are too many for a receipt. @throws UsageError */
export const readReceipt = (io: Io, argument: string, path: string) =>
  readInput(io, argument, path, maxBytes + 1);

/** Returns the receipts in a folder: each `*.json`, but nothing in its subfolders; null if the path is not a folder. */
function receiptsIn(io: Io, path: string): string[] | null {
  try {
    const names = path === '-' ? null : io.namesInFolder(path);
    const receipts = names?.filter((name) => /\.json$/i.test(name));
    return receipts?.map((name) => join(path, name)) ?? null;
  } catch (cause) {
    throw unreadable('<file>', path, cause);
  }
}

/** Returns the files that the arguments name, and the folders without a receipt. @throws UsageError */
export function namedReceipts(io: Io, given: readonly string[]) {
  const found = given.map((path) => ({ path, files: receiptsIn(io, path) }));
  return {
    paths: found.flatMap(({ path, files }) => files ?? [path]),
    empty: found.filter(({ files }) => files?.length === 0).map(({ path }) => path),
    hasFolder: found.some(({ files }) => files !== null),
  };
}
