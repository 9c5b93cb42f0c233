import { join } from 'node:path';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { readProblem } from '../../host/read-file.ts';
import { maxBytes } from '../../receipt/dsse.ts';

function unreadable(argument: string, path: string, what: string, cause: unknown): UsageError {
  return new UsageError(`${argument}: cannot read ${path}: ${readProblem(cause)}`, {
    hint: `pass the path of a ${what} that you may read`,
    cause,
  });
}

/** `-` is standard input. Returns no more than the first bytes that are too many for a receipt. @throws UsageError */
export async function readReceipt(io: Io, argument: string, path: string): Promise<Uint8Array> {
  try {
    return path === '-' ? await io.readStdin(maxBytes + 1) : io.readFile(path, maxBytes + 1);
  } catch (cause) {
    throw unreadable(argument, path, 'file', cause);
  }
}

/** Returns the receipts in a folder: each `*.json`, but nothing in its subfolders; null if the path is not a folder. */
function receiptsIn(io: Io, path: string): string[] | null {
  try {
    const names = path === '-' ? null : io.namesInFolder(path);
    const receipts = names?.filter((name) => /\.json$/i.test(name));
    return receipts?.map((name) => join(path, name)) ?? null;
  } catch (cause) {
    throw unreadable('<file>', path, 'folder', cause);
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
