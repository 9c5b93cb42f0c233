import { dirname, join, resolve } from 'node:path';
import { ConfigError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { findProjectFile, findRoot, maxFileBytes } from '../../settings/locate.ts';
import { readProjectFile, type Section, sectionFor } from '../../settings/project-file.ts';

/** Reads only regular files: a pipe or a device such as `/dev/zero` might never end. @throws a file system error, or Error */
export function readRegularFile(
  io: Pick<Io, 'inspect' | 'readFile'>,
  path: string,
  mostBytes?: number,
): Uint8Array {
  if (!io.inspect(path).isFile) throw new Error('not a file');
  return io.readFile(path, mostBytes);
}

/** The value that turns the project file off. */
export const noFile = 'none';

function unreadable(path: string, cause: unknown): ConfigError {
  const { code, message } = cause as NodeJS.ErrnoException;
  const hint = 'check that it is a regular file that you may read, or use --config none to run without one';
  return new ConfigError(`cannot read the project file: ${path} (${code ?? message})`, { hint, cause });
}

/**
 * Checks the owner of a project file above the working directory. Another user may have written it and the `.git` beside
 * it, for example in /tmp. Both must belong to the user, to root or to the owner of the working directory, as Git
 * requires of a repository.
 */
function checkOwner({ inspect, uid, cwd, exists }: Io, path: string): void {
  if (uid === null || dirname(path) === cwd) return;
  const trusted: readonly number[] = [uid, 0, ...inspect(cwd).owners];
  for (const checkedPath of [path, join(findRoot(cwd, exists) ?? cwd, '.git')]) {
    const stranger = inspect(checkedPath).owners.find((owner) => !trusted.includes(owner));
    if (stranger === undefined) continue;
    const what = checkedPath === path ? 'the project file' : 'the repository of the project file';
    throw new ConfigError(`${what} belongs to another user: ${checkedPath} (user id ${stranger})`, {
      hint: `if you trust it, name it: --config ${path} (or RUNGATE_CONFIG); to run without a project file: --config none`,
    });
  }
}

/** Null for `none`, undefined if neither `--config` nor RUNGATE_CONFIG is set. @throws UsageError for an empty `--config` */
export function namedProjectFile(
  { env, cwd }: Pick<Io, 'env' | 'cwd'>,
  flag?: string,
): string | null | undefined {
  const variable = env.RUNGATE_CONFIG?.trim();
  const named = flag ?? (variable === '' ? undefined : variable);
  if (named === undefined) return undefined;
  return named === noFile ? null : resolve(cwd, named);
}

/**
 * Returns the path of the project file; null if there is none, or for `none`. An untrusted or unreadable file is an error:
 * skipping it would drop its `strict`.
 * @throws UsageError for an empty `--config`, ConfigError for an untrusted file
 */
export function chooseProjectFile(io: Io, flag: string | undefined): string | null {
  const named = namedProjectFile(io, flag);
  if (named !== undefined) return named;
  const path = findProjectFile(io.cwd, io.exists);
  try {
    if (path !== null) checkOwner(io, path);
    return path;
  } catch (cause) {
    throw cause instanceof ConfigError ? cause : unreadable(path ?? '', cause);
  }
}

/** Reads the project file's settings and gates for the branch or tag that `refOf` returns. @throws ConfigError */
export async function readForRef(
  io: Io,
  path: string,
  refOf: () => Promise<string | null> | string | null = () => null,
): Promise<Section> {
  let bytes: Uint8Array;
  try {
    bytes = readRegularFile(io, path, maxFileBytes + 1);
  } catch (cause) {
    throw unreadable(path, cause);
  }
  const file = readProjectFile(path, bytes);
  return sectionFor(file, file.branches.size === 0 ? null : await refOf());
}
