import { join } from 'node:path';
import { type SkippedGate, skippedGates } from '../ci/skipped-gate.ts';
import type { Io } from '../host/io.ts';
import { findRoot } from '../settings/locate.ts';

/** The remedy for a gate that a workflow can skip. */
export const skippedRemedy =
  'GitHub counts a skipped job as success, even where it is required: remove the condition or, with a merge queue, use the workflow of rungate init --merge-queue';

export function skippedText({ file, job, condition, leftToQueue }: SkippedGate & { file: string }): string {
  if (leftToQueue) return `${file} leaves pull requests from forks in the job ${job} to the merge queue`;
  return `${file} skips the gate in the job ${job} unless ${condition}`;
}

/** Finds the gates that a GitHub workflow of the repository can skip. */
export function findSkippedGates(
  io: Pick<Io, 'cwd' | 'exists' | 'capture' | 'readFile'>,
): (SkippedGate & { file: string })[] {
  const root = findRoot(io.cwd, io.exists);
  const folder = ':(top).github/workflows';
  const args = ['ls-files', '-z', '--full-name', '--cached', '--others', '--exclude-standard', folder];
  const files = root === null ? [] : (io.capture(['git', ...args]) ?? '').split('\0');
  return files.flatMap((file) => {
    const path = join(root ?? '', file);
    if (!/\.ya?ml$/.test(file) || !io.exists(path)) return [];
    return skippedGates(new TextDecoder().decode(io.readFile(path))).map((gate) => ({ file, ...gate }));
  });
}
