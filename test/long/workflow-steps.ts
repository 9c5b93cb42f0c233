import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { expect } from 'vitest';
import { root, start } from '../e2e/built.ts';

export interface Step {
  uses?: string;
  run?: string;
  name?: string;
  if?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}

export interface Job {
  'runs-on': string;
  permissions?: Record<string, string>;
  needs?: string | string[];
  outputs?: Record<string, string>;
  strategy?: { matrix: { include: Record<string, string>[] } };
  'timeout-minutes'?: number;
  steps: Step[];
}

export const workflows = join(root, '.github/workflows');
export const read = (name: string) => readFileSync(join(workflows, name), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: read key by key; a missing key fails the test.
export const parsed = (name: string): any => parseYaml(read(name));
export const jobsOf = (name: string) => Object.entries<Job>(parsed(name).jobs);
export const shellOf = ({ steps }: Job) => steps.map((step) => step.run ?? '').join('\n');

/** Returns the job of release.yml with this id. */
export function releaseJob(id: string): Job {
  const job = parsed('release.yml').jobs[id];
  expect(job, id).toBeDefined();
  return job;
}

/** Returns the shell code of a step. */
export function step(job: Job, name: RegExp): string {
  const found = job.steps.filter((one) => name.test(one.name ?? one.uses ?? ''));
  expect(found, String(name)).toHaveLength(1);
  return String(found[0]?.run);
}

/** Runs the shell code of a step in a folder, as GitHub does. */
export const runStep = (text: string, where: string, env: Record<string, string>) =>
  start('bash', ['--noprofile', '--norc', '-eo', 'pipefail', '-c', text], env, where).ended;
