import { dirname, join, relative } from 'node:path';
import { UsageError } from '../../errors.ts';
import { projectFileName } from '../../settings/locate.ts';
import { echoed } from '../../suggest.ts';
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
export function answerFlags(answers: Answers): string[] {
  return Object.entries(flagNames).flatMap(([name, flag]) =>
    [answers[name as keyof typeof flagNames] ?? []]
      .flat()
      .map(
        (value) =>
          `${flag} ${plainWord(flag, value, 'write it into .rungate.json: leave out --pipeline-only')}`,
      ),
  );
}

/** The folder of the project file, from the root; empty for the root itself and for a file outside the repository. */
export function packageOf(root: string, path: string): string {
  const folder = relative(root, dirname(path)).replaceAll('\\', '/');
  return folder.startsWith('..') ? '' : folder;
}

/** Names the project file, if the one that a pipeline finds in the root is another. */
export function configFlag(root: string, path: string): string[] {
  const file = relative(root, path).replaceAll('\\', '/');
  if (path === join(root, projectFileName) || file.startsWith('..')) return [];
  return [`--config ${plainWord('the path', file, 'rename it, or write the pipeline yourself: --ci none')}`];
}
