import { dirname, relative } from 'node:path';
import { type Pipeline, type Plan, resumePipeline } from '../../ci/pipelines.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { wantsJson } from '../../output/json.ts';
import { excerpt } from '../../sanitize.ts';
import type { Context } from '../context.ts';
import type { CiChoice } from './answers.ts';

/** A file, and what init does with it. */
export interface PlannedFile {
  readonly path: string;
  /** The file's new content, or the text to add. */
  readonly text: string;
  /**
   * `written`: with --dry-run, it would be written. `kept`: it already has this content. `differs`: it exists, runs rungate, and
   * is replaced only with --force. `shown`: it exists with other content, and the user adds the text.
   */
  readonly fate: 'written' | 'kept' | 'differs' | 'shown';
  /** For `shown`, the instruction, to be followed by the path. */
  readonly how?: string;
}

interface InitReport {
  readonly schemaVersion: 1;
  readonly dryRun: boolean;
  readonly ci: CiChoice;
  readonly files: readonly PlannedFile[];
  /** For a CI system that rungate writes no pipeline for. */
  readonly command: string | null;
}

export function differsError(io: Io, path: string): UsageError {
  return new UsageError(`${displayPath(io, path)} already exists with different content`, {
    hint: 'edit it, or add --force to replace it; --force --dry-run shows the new content',
  });
}

/** Writes the planned files, in order. @throws ConfigError that lists the files already written */
export function writePlannedFiles(io: Io, files: readonly PlannedFile[]): void {
  const done: string[] = [];
  for (const { path, text, fate } of files) {
    if (fate !== 'written') continue;
    try {
      io.writeFile(path, text);
    } catch (cause) {
      const { code = 'unknown' } = cause as NodeJS.ErrnoException;
      const before = done.length === 0 ? 'nothing was written' : `already written: ${done.join(', ')}`;
      throw new ConfigError(`cannot write ${excerpt(path)} (${code}); ${before}`, {
        hint: `check the permissions of ${excerpt(dirname(path))}; --dry-run shows the files without writing them`,
        cause,
      });
    }
    done.push(excerpt(path));
  }
}

export function displayPath(io: Io, path: string): string {
  return excerpt(relative(io.cwd, path) || path, 200);
}

const verbs = {
  written: 'wrote',
  kept: 'unchanged:',
  differs: 'not replaced, although its content differs (use --force to replace it):',
} as const;
const dryRunVerbs = { ...verbs, written: 'would write' } as const;

export async function reportFiles(
  { io, output }: Context,
  report: InitReport,
  next: readonly string[],
): Promise<void> {
  const { dryRun, ci, files, command } = report;
  if (wantsJson(output)) return output.data(report, '');
  for (const { path, text, fate, how } of files) {
    const done = fate === 'shown' ? how : (dryRun ? dryRunVerbs : verbs)[fate];
    await output.result(`${done} ${displayPath(io, path)}\n`);
    if (fate === 'shown' || (dryRun && fate === 'written')) await output.result(`\n${text}\n`);
  }
  if (command !== null) await output.result(`the step for ${ci}:\n\n    ${command}\n\n`);
  for (const line of next) await output.note(line);
}

const hubSteps = [
  '  hub      the same page: a secret RUNGATE_HUB_TOKEN, and a variable RUNGATE_HUB_URL',
  '           where the hub runs: RUNGATE_GITHUB_TOKEN, a token of GitHub with actions: write',
];

/** Returns the steps after the commit. */
function statusSteps({ defaultBranch }: Plan, status: string | null): string[] {
  const name = status === null ? 'the commit status that the first gate names' : `"${excerpt(status, 255)}"`;
  return [
    `  merge    first ${resumePipeline.file}: GitHub starts it only on ${excerpt(defaultBranch)}`,
    `  require  Settings, Rules, Rulesets, Require status checks to pass: ${name}`,
    '           (a job that needs the gate runs before the verdict: only this status is the gate)',
  ];
}

/**
 * Returns the next steps for the user.
 * @param ci null if the user has chosen none
 * @param pipeline the one for the CI, if its format is known
 * @param commands the commands of this machine for a gate and for another init
 * @param status the commit status of a detached gate, if its name is known
 */
export function stepsAfterInit(
  ci: CiChoice | null,
  pipeline: Pipeline | undefined,
  plan: Plan,
  { self, gate, init }: Readonly<Record<'self' | 'gate' | 'init', string>>,
  status: string | null,
): string[] {
  const lines = ['Next:'];
  const { files = [] } = ci === null || ci === 'none' ? {} : plan.installation;
  if (ci === 'none') lines.push(`  pipeline ${init} --ci github (or gitlab, …)`);
  else if (ci !== null) {
    const { start, caveat } = plan.installation;
    if (pipeline?.plugins !== undefined) lines.push(`  plugins  ${pipeline.plugins}`);
    lines.push(`  key      ${pipeline?.keyPlace ?? "the CI's secret store: RUNGATE_API_KEY"}`);
    if (!plan.addressInFile)
      lines.push(`  url      ${pipeline?.addressPlace ?? 'a variable in the same place: RUNGATE_API_URL'}`);
    if (plan.detached) lines.push(...hubSteps);
    if (caveat !== null) {
      const pinned = start.split(' ').at(-1);
      lines.push(`  rungate  the pipeline runs ${pinned}, not the version in a lockfile:`);
      lines.push(`           ${caveat}`);
    }
  }
  return [
    ...lines,
    `  here     ${self} login --api-url <url>`,
    `           ${gate}`,
    `  offline  ${self} mock exec --retry-after 1 -- ${gate}`,
    `  commit   the new files; they contain no secret${files.length > 0 ? ', and' : ''}`,
    ...(files.length > 0 ? [`           ${excerpt(files.join(', '), 400)}`] : []),
    ...(plan.detached ? statusSteps(plan, status) : []),
  ];
}
