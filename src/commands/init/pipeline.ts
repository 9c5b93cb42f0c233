import { basename, dirname, join, relative } from 'node:path';
import { gitlabStage, isWritten } from '../../ci/existing-pipeline.ts';
import { gateCommand, type Pipeline, type Plan, pipelineFile } from '../../ci/pipelines.ts';
import { UsageError } from '../../errors.ts';
import { contextOf } from '../../gate/detached/steps.ts';
import { usualDeployedMs, usualLimits } from '../../gate/limits.ts';
import { inOrder, longestPathMs } from '../../gate/plan/graph.ts';
import type { Io } from '../../host/io.ts';
import { groupOf } from '../../options/table.ts';
import { usualReadyMs } from '../../preview/plan.ts';
import { mergeGates, planNode } from '../../settings/gates.ts';
import { projectFileName } from '../../settings/locate.ts';
import { mergeSettings } from '../../settings/merge.ts';
import { readProjectFile } from '../../settings/project-file.ts';
import { echoed } from '../../suggest.ts';
import type { Answers } from './answers.ts';
import type { PlannedFile } from './planned-files.ts';
import type { FileFields } from './project.ts';

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

export function answerFlags(answers: Answers, file: string): string[] {
  const hint = `to write it into ${file} instead, leave out --pipeline-only`;
  return Object.entries(flagNames).flatMap(([name, flag]) => {
    const values = [answers[name as keyof typeof flagNames] ?? []].flat();
    return values.map((value) => `${flag} ${plainArgument(flag, value, hint)}`);
  });
}

/** Returns a path below the root as CI systems write it; null outside of it. */
function inRepository(root: string, path: string): string | null {
  const inside = relative(root, path).replaceAll('\\', '/');
  return inside.startsWith('..') ? null : inside;
}

/** Returns the project file's folder, relative to the root; empty for the root and for a file outside the repository. */
export function packageOf(root: string, path: string): string {
  return inRepository(root, dirname(path)) ?? '';
}

/** Empty if a pipeline finds the file in the root. @throws UsageError for a file that no pipeline can read */
export function configFlag(root: string, path: string, shown: string): string[] {
  if (path === join(root, projectFileName)) return [];
  const file = inRepository(root, path);
  if (file === null) {
    throw new UsageError(`the pipeline cannot read ${shown}: it is outside the repository`, {
      hint: 'move it into the repository, or use --ci none and write the pipeline yourself',
    });
  }
  const hint = 'rename it, or use --ci none and write the pipeline yourself';
  return [`--config ${plainArgument('the path', file, hint)}`];
}

const readFields = (fields: object) =>
  readProjectFile('.rungate.json', new TextEncoder().encode(JSON.stringify(fields)));

/**
 * Returns the name of the commit status of a detached gate with this project file, or null if that depends on more than the file.
 * @param extra the options of the command
 */
export function statusOf(fields: FileFields, extra: Answers): string | null {
  if (fields.branches !== undefined) return null;
  const one = extra.process ?? extra.tags;
  const gates = one === undefined ? inOrder([...readFields(fields).gates.values()].map(planNode)) : [];
  if (gates.length > 0) return contextOf(gates.map(({ name }) => name));
  const project = extra.project ?? fields.project;
  const selected = one ?? fields.process ?? fields.tags;
  if (project === undefined || selected === undefined) return null;
  return contextOf([`${project} / ${[selected].flat().join(', ')}`]);
}

/**
 * Returns the longest time that `rungate gate` waits with this project file, in milliseconds.
 * @param one an option of the command says what to run, so that it does not run the gates of the file
 */
export function longestWaitOf(fields: object, one: boolean): number {
  const file = readFields(fields);
  const waits = [file, ...file.branches.values()].map((section) => {
    const settings = mergeSettings([...section.sources, ...file.sources]);
    const timeout = settings.timeout?.value ?? usualLimits.timeoutMs;
    const { baseUrl, readyTimeout } = groupOf(settings, 'preview');
    const { url, timeout: deployedTimeout } = groupOf(settings, 'deployed');
    const readyMs = baseUrl === undefined ? 0 : (readyTimeout?.value ?? usualReadyMs);
    const before = readyMs + (url === undefined ? 0 : (deployedTimeout?.value ?? usualDeployedMs));
    const gates = one ? [] : [...mergeGates(file.gates, section.gates).values()];
    const nodes = gates.map((gate) => {
      const waitMs = mergeSettings(gate.sources).timeout?.value ?? timeout;
      return { ...planNode(gate), ownMs: before + waitMs };
    });
    return nodes.length === 0 ? before + timeout : longestPathMs(nodes);
  });
  return Math.max(...waits);
}

/** Returns the instruction for a pipeline whose file has other content, to be followed by the path of that file. */
function instruction({ file, added }: Pipeline): string {
  if (added !== true) return 'add this, or replace an earlier version with it, in';
  const other = basename(file).replace('.', '-gate.');
  return `put this into another file, such as ${other}; this workflow exists, and does not run rungate:`;
}

export function plannedPipeline(
  root: string,
  pipeline: Pipeline,
  plan: Plan,
  io: Io,
  force: boolean,
): PlannedFile {
  const path = join(root, pipelineFile(pipeline, plan));
  if (!io.exists(path)) return { path, text: pipeline.text(plan), fate: 'written' };
  const present = new TextDecoder().decode(io.readFile(path));
  const stage = pipeline.provider === 'gitlab' ? gitlabStage(present) : undefined;
  const text = pipeline.text({ ...plan, ...(stage !== undefined && { stage }) });
  if (present.includes(text)) return { path, text, fate: 'kept' };
  // Never replace a file with other content.
  const isOurs = pipeline.added ? /\brungate\b/.test(present) : isWritten(present, text);
  if (isOurs) return { path, text, fate: force ? 'written' : 'differs' };
  return { path, text, fate: 'shown', how: instruction(pipeline) };
}

/** Returns the command of a step, for a CI system without a known pipeline format. */
export function bareCommand(plan: Plan): string {
  const gate = `${gateCommand(plan)} --junit rungate.xml`;
  const { install } = plan.installation;
  return install === null ? gate : `${install} && ${gate}`;
}
