import { join } from 'node:path';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { readProblem } from '../../host/read-file.ts';

/** Enough for any file of gates. */
const mostFiles = 1_000;

/** The receipts that the arguments name. */
export interface NamedReceipts {
  readonly paths: readonly string[];
  /** Folders without a receipt. */
  readonly empty: readonly string[];
  /** Whether an argument is a folder. */
  readonly hasFolder: boolean;
}

function namesIn(io: Io, path: string): readonly string[] | null {
  try {
    return path === '-' ? null : io.namesInFolder(path);
  } catch (cause) {
    throw new UsageError(`<file>: cannot read ${path}: ${readProblem(cause)}`, {
      hint: 'pass the path of a folder that you may read',
      cause,
    });
  }
}

/** Returns the files, and for a folder each `*.json` in it, but nothing in its subfolders. @throws UsageError */
export function namedReceipts(io: Io, given: readonly string[]): NamedReceipts {
  const found = given.map((path) => {
    const names = namesIn(io, path)?.filter((name) => /\.json$/i.test(name));
    return { path, files: names?.map((name) => join(path, name)) };
  });
  const paths = found.flatMap(({ path, files }) => files ?? [path]);
  if (paths.length > mostFiles)
    throw new UsageError(`${paths.length} receipts were given, more than ${mostFiles}`, {
      hint: 'verify them in parts',
    });
  return {
    paths,
    empty: found.filter(({ files }) => files?.length === 0).map(({ path }) => path),
    hasFolder: found.some(({ files }) => files !== undefined),
  };
}
