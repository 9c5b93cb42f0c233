import { dirname, join, relative } from 'node:path';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { sanitize } from '../../sanitize.ts';
import { findProjectFile, projectFileName } from '../../settings/locate.ts';
import { echoed } from '../../suggest.ts';
import { namedProjectFile, noFile } from '../config/project-file.ts';
import type { Answers } from './answers.ts';

/**
 * One word of a command in a pipeline. Each CI has characters of its own that it replaces or that need quotes; slugs, keys, addresses
 * and paths rarely have any.
 * @throws UsageError for a word that has one
 */
function plainWord(what: string, word: string, hint: string): string {
  if (/^[A-Za-z0-9_+=:,./][A-Za-z0-9_+=:,./@-]*$/.test(word)) return word;
  throw new UsageError(`${what} ${echoed(word)} cannot be written into a pipeline as it is`, { hint });
}

const flagNames = {
  apiUrl: '--api-url',
  project: '--project',
  process: '--process',
  tags: '--tag',
  environment: '--environment',
} as const;

/** The settings as flags of `run trigger`; a pipeline is strict anyway. */
export function answerFlags(answers: Answers, file: string): string[] {
  return Object.entries(flagNames).flatMap(([name, flag]) =>
    [answers[name as keyof typeof flagNames] ?? []]
      .flat()
      .map(
        (value) => `${flag} ${plainWord(flag, value, `write it into ${file}: leave out --pipeline-only`)}`,
      ),
  );
}

/** The folder of the project file, from the root; empty for the root itself and for a file outside the repository. */
export function packageOf(root: string, path: string): string {
  const folder = relative(root, dirname(path)).replaceAll('\\', '/');
  return folder.startsWith('..') ? '' : folder;
}

/** The project file that a command is to read: null for none, undefined if there is no file that could be read. */
export type ReadFile = string | null | undefined;

/** A path as the value of `--config`, where `none` means another thing. */
const asValue = (path: string) => (path === noFile ? `./${path}` : path);

/**
 * Names the project file, if the one that a pipeline finds in the root is another.
 * @throws UsageError for a file that no pipeline can read
 */
export function configFlag(root: string, path: ReadFile, shown: string): string[] {
  if (path === undefined || path === join(root, projectFileName)) return [];
  if (path === null) return [`--config ${noFile}`];
  const file = relative(root, path).replaceAll('\\', '/');
  if (file.startsWith('..')) {
    throw new UsageError(`${shown} is outside of the repository, where no pipeline can read it`, {
      hint: 'put it into the repository, or write the pipeline yourself: --ci none',
    });
  }
  const hint = 'rename it, or write the pipeline yourself: --ci none';
  return [`--config ${plainWord('the path', asValue(file), hint)}`];
}

/** A word as a shell of this machine takes it. */
function shellWord(word: string): string {
  const plain = sanitize(word);
  return /^[\w./:@%+=,-]+$/.test(plain) ? plain : `'${plain.replaceAll("'", "'\\''")}'`;
}

/** Repeats the `--config` that was given, for the hint of an error. */
export const sameConfig = (given: string | undefined) =>
  given === undefined ? '' : ` --config ${shellWord(given)}`;

/** Names the project file for a command in this folder, if such a command reads another without it. */
export function localConfigFlag(io: Pick<Io, 'env' | 'cwd' | 'exists'>, path: ReadFile): string[] {
  if (path === undefined) return [];
  const named = namedProjectFile(io);
  const exists = (one: string) => one === path || io.exists(one);
  if (path === (named === undefined ? findProjectFile(io.cwd, exists) : named)) return [];
  return [`--config ${path === null ? noFile : shellWord(asValue(relative(io.cwd, path)))}`];
}
