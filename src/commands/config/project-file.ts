import { dirname, join, resolve } from 'node:path';
import { ConfigError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { findProjectFile, findRoot } from '../../settings/locate.ts';
import type { Source } from '../../settings/names.ts';
import { filled } from '../global-options.ts';

/**
 * Returns the bytes of a file that a setting names. A pipe or a device such as `/dev/zero` could be read for ever.
 * @throws the file system's error; Error if it is not a file
 */
export function readRegularFile(io: Pick<Io, 'inspect' | 'readFile'>, path: string): Uint8Array {
  if (!io.inspect(path).isFile) throw new Error('not a file');
  return io.readFile(path);
}

/** Stands for no project file where one can be named. */
export const noFile = 'none';

function unreadable(path: string, code: string, cause?: unknown): ConfigError {
  const hint = 'check that it is a file that you may read, or use --config none to go without one';
  return new ConfigError(`the project file cannot be read: ${path} (${code})`, { hint, cause });
}

const codeOf = (cause: unknown) => (cause as NodeJS.ErrnoException).code ?? (cause as Error).message;

/**
 * A folder above may be anybody's, as /tmp is, and a `.git` there makes the search go that far. So both must belong to
 * the user, to root, or to whoever owns the working directory. Git asks the same of a repository.
 */
function checkOwner({ inspect, uid, cwd, exists }: Io, path: string): void {
  if (uid === null || dirname(path) === cwd) return;
  const trusted: readonly number[] = [uid, 0, ...inspect(cwd).owners];
  for (const one of [path, join(findRoot(cwd, exists) ?? cwd, '.git')]) {
    const stranger = inspect(one).owners.find((owner) => !trusted.includes(owner));
    if (stranger === undefined) continue;
    const what = one === path ? 'the project file' : 'the repository of the project file';
    throw new ConfigError(`${what} belongs to another user: ${one} (user id ${stranger})`, {
      hint: `if you trust it, name it: --config ${path} (or RUNGATE_CONFIG); --config none goes without one`,
    });
  }
}

/** What the search finds. It is not passed over where something is wrong with it: that would drop its `strict`. */
function findChecked(io: Io): string | null {
  const path = findProjectFile(io.cwd, io.exists);
  if (path === null) return null;
  try {
    checkOwner(io, path);
  } catch (cause) {
    throw cause instanceof ConfigError ? cause : unreadable(path, codeOf(cause), cause);
  }
  return path;
}

/**
 * The path that `--config` or RUNGATE_CONFIG names, null for `none`; undefined if neither names one.
 * @throws UsageError for an empty `--config`
 */
export function namedProjectFile(
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  flag?: string,
): string | null | undefined {
  const variable = env.RUNGATE_CONFIG?.trim();
  const named = filled('--config', flag) ?? (variable === '' ? undefined : variable);
  if (named === undefined) return undefined;
  return named === noFile ? null : resolve(cwd, named);
}

/**
 * The path of the project file that counts: the one that `--config` or RUNGATE_CONFIG names, else the nearest; null where
 * there is none, or `none` is named.
 * @throws UsageError for an empty `--config`, ConfigError for a file that is not to be trusted
 */
export function chooseProjectFile(io: Io, flag: string | undefined): string | null {
  const named = namedProjectFile(io, flag);
  return named === undefined ? findChecked(io) : named;
}

/** What the project file gives for the branch or tag that `refOf` tells. @throws ConfigError */
export async function projectFileSource(
  io: Io,
  path: string,
  refOf: () => Promise<string | null> | string | null = () => null,
): Promise<Source> {
  let bytes: Uint8Array;
  try {
    bytes = readRegularFile(io, path);
  } catch (cause) {
    throw unreadable(path, codeOf(cause), cause);
  }
  const { readProjectFile, projectSource } = await import('../../settings/project-file.ts');
  const file = readProjectFile(path, bytes);
  return projectSource(file, file.branches.size === 0 ? null : await refOf());
}
