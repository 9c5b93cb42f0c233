import { dirname, join, relative } from 'node:path';
import { UsageError } from '../../errors.ts';
import { usualDeployedMs, usualLimits } from '../../gate/limits.ts';
import { longestPathMs } from '../../gate/plan/graph.ts';
import type { Io } from '../../host/io.ts';
import { groupOf } from '../../options/table.ts';
import { usualReadyMs } from '../../preview/plan.ts';
import { type FileGate, mergeGates, planNode } from '../../settings/gates.ts';
import { findProjectFile, projectFileName } from '../../settings/locate.ts';
import { readProjectFile } from '../../settings/project-file.ts';
import { echoed } from '../../suggest.ts';
import { namedProjectFile, noFile } from '../config/project-file.ts';
import { shellQuoted } from '../shell-quoted.ts';
import type { Answers } from './answers.ts';

/**
 * Each CI has other special characters; slugs, keys, URLs and paths rarely contain any. YAML reads a colon before a space as the end of
 * a key. @throws UsageError if a value has one of them
 */
function plainArgument(what: string, value: string, hint: string): string {
  if (/^[A-Za-z0-9_+=:,./][A-Za-z0-9_+=:,./@-]*(?<!:)$/.test(value)) return value;
  throw new UsageError(`${what} ${echoed(value)} has characters that need quotes in a pipeline`, { hint });
}

export const flagNames = {
  apiUrl: '--api-url',
  project: '--project',
  process: '--process',
  tags: '--tag',
  environment: '--environment',
} as const;

/** Returns the settings as options of `rungate gate`. */
export function answerFlags(answers: Answers, file: string): string[] {
  return Object.entries(flagNames).flatMap(([name, flag]) =>
    [answers[name as keyof typeof flagNames] ?? []]
      .flat()
      .map(
        (value) =>
          `${flag} ${plainArgument(flag, value, `to write it into ${file} instead, leave out --pipeline-only`)}`,
      ),
  );
}

/** Returns the project file's folder, relative to the root; empty for the root and for a file outside the repository. */
export function packageOf(root: string, path: string): string {
  const folder = relative(root, dirname(path)).replaceAll('\\', '/');
  return folder.startsWith('..') ? '' : folder;
}

/** The project file that a command reads: null for none, undefined if no such file exists. */
export type ReadFile = string | null | undefined;

/** Returns a path as the value of `--config`, in which `none` has a special meaning. */
const asValue = (path: string) => (path === noFile ? `./${path}` : path);

/** Empty if a pipeline would not find another file in the root. @throws UsageError for a file that no pipeline can read */
export function configFlag(root: string, path: ReadFile, shown: string): string[] {
  if (path === undefined || path === join(root, projectFileName)) return [];
  if (path === null) return [`--config ${noFile}`];
  const file = relative(root, path).replaceAll('\\', '/');
  if (file.startsWith('..')) {
    throw new UsageError(`the pipeline cannot read ${shown}: it is outside the repository`, {
      hint: 'move it into the repository, or use --ci none and write the pipeline yourself',
    });
  }
  const hint = 'rename it, or use --ci none and write the pipeline yourself';
  return [`--config ${plainArgument('the path', asValue(file), hint)}`];
}

/** Repeats the user's `--config` for a hint. */
export const sameConfig = (path: string | undefined) =>
  path === undefined ? '' : ` --config ${shellQuoted(path)}`;

/** Returns `--config` for a command in this folder, if the command would otherwise read another project file. */
export function localConfigFlag(io: Pick<Io, 'env' | 'cwd' | 'exists'>, path: ReadFile): string[] {
  if (path === undefined) return [];
  const named = namedProjectFile(io);
  const exists = (file: string) => file === path || io.exists(file);
  if (path === (named === undefined ? findProjectFile(io.cwd, exists) : named)) return [];
  return [`--config ${path === null ? noFile : shellQuoted(asValue(relative(io.cwd, path)))}`];
}

function deployedMsOf(values: FileGate['source']['values']): number {
  const { url, timeout = usualDeployedMs } = groupOf(values, 'deployed');
  return url === undefined ? 0 : timeout;
}

/**
 * Returns the longest time that `rungate gate` waits with this project file, in milliseconds.
 * @param one an option of the command says what to run, so that it does not run the gates of the file
 */
export function longestWaitOf(fields: object, one: boolean): number {
  const file = readProjectFile('.rungate.json', new TextEncoder().encode(JSON.stringify(fields)));
  const waits = [file, ...file.branches.values()].map((section) => {
    const values = { ...file.source.values, ...section.source.values };
    const { timeout = usualLimits.timeoutMs } = values;
    const { baseUrl, readyTimeout = usualReadyMs } = groupOf(values, 'preview');
    const readyMs = baseUrl !== undefined ? readyTimeout : 0;
    const deployedMs = deployedMsOf(values);
    const gates = one ? [] : [...mergeGates(file.gates, section.gates).values()];
    const msOf = (own = timeout) => readyMs + deployedMs + own;
    const nodes = gates.map((gate) => ({ ...planNode(gate), ownMs: msOf(gate.source.values.timeout) }));
    return nodes.length === 0 ? msOf() : longestPathMs(nodes);
  });
  return Math.max(...waits);
}
