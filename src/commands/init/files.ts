import { basename, dirname, join, relative } from 'node:path';
import { gitlabStage, isWritten, jobIn } from '../../ci/existing-pipeline.ts';
import { gateCommand, type Pipeline, type Plan, pipelineFile } from '../../ci/pipelines.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { wantsJson } from '../../output/json.ts';
import { excerpt } from '../../sanitize.ts';
import { readProjectFile } from '../../settings/project-file.ts';
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

/** Returns the instruction for a pipeline whose file has other content, to be followed by the path of that file. */
function instruction({ file, added }: Pipeline, present: string, text: string, plan: Plan): string {
  if (added) {
    const other = basename(file).replace('.', '-gate.');
    return `put this into another file, such as ${other}; this workflow exists, and does not run rungate:`;
  }
  const job = jobIn(present, text, plan);
  if (job === null) return 'add this to';
  return runsRungate(present)
    ? `replace the job ${job} with this in`
    : `rename the job ${job}, and add this to`;
}

const runsRungate = (text: string) => /\brungate\b/.test(text);

/** Checks the text as every command does. @throws UsageError if the file would be invalid */
export function projectFileText(path: string, fields: object): string {
  const text = `${JSON.stringify(fields, null, 2)}\n`;
  try {
    readProjectFile(path, new TextEncoder().encode(text));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The mistake comes from an option or a prompt, since the file does not exist yet.
    throw new UsageError(error.message.replace(/^.*?:\d+:\d+: /, ''), { hint: error.hint, cause: error });
  }
  return text;
}

export function plannedPipeline(
  root: string,
  pipeline: Pipeline,
  plan: Plan,
  io: Pick<Io, 'exists' | 'readFile'>,
  force: boolean,
): PlannedFile {
  const path = join(root, pipelineFile(pipeline, plan));
  if (!io.exists(path)) return { path, text: pipeline.text(plan), fate: 'written' };
  const present = new TextDecoder().decode(io.readFile(path));
  const stage = pipeline.provider === 'gitlab' ? gitlabStage(present) : undefined;
  const text = pipeline.text({ ...plan, ...(stage !== undefined && { stage }) });
  if (present.includes(text)) return { path, text, fate: 'kept' };
  // Never replace a file with other content.
  const isOurs = pipeline.added ? runsRungate(present) : isWritten(present, text);
  if (isOurs) return { path, text, fate: force ? 'written' : 'differs' };
  return { path, text, fate: 'shown', how: instruction(pipeline, present, text, plan) };
}

export function differsError(io: Io, path: string): UsageError {
  return new UsageError(`${displayPath(io, path)} already exists with different content`, {
    hint: 'edit it, or add --force to replace it; --force --dry-run shows the new content',
  });
}

/** Returns the command of a step, for a CI system without a known pipeline format. */
export function bareCommand(plan: Plan): string {
  const gate = `${gateCommand(plan)} --junit rungate.xml`;
  const { install } = plan.installation;
  return install === null ? gate : `${install} && ${gate}`;
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

/** Prints the report, and the next steps for people. */
export async function reportFiles(
  { io, output }: Context,
  report: InitReport,
  next: readonly string[],
): Promise<void> {
  const { dryRun, ci, files, command } = report;
  if (wantsJson(output)) return output.data(report, { head: [], rows: [] });
  for (const { path, text, fate, how } of files) {
    const done = fate === 'shown' ? how : (dryRun ? dryRunVerbs : verbs)[fate];
    await output.result(`${done} ${displayPath(io, path)}\n`);
    if (fate === 'shown' || (dryRun && fate === 'written')) await output.result(`\n${text}\n`);
  }
  if (command !== null) await output.result(`the step for ${ci}:\n\n    ${command}\n\n`);
  for (const line of next) await output.note(line);
}

/** The start of a rungate command on this machine, and the options that it needs. */
export interface LocalCommands {
  readonly self: string;
  readonly config: readonly string[];
  readonly settings: readonly string[];
}

/** Returns the next steps for the user; `pipeline` is the one for the CI, if its format is known. */
export function stepsAfterInit(
  ci: CiChoice,
  pipeline: Pipeline | undefined,
  plan: Plan,
  { self, config, settings }: LocalCommands,
  offersPipeline: boolean,
): string[] {
  const lines = ['Next:'];
  const gate = [self, 'gate', ...config, ...settings].join(' ');
  const init = [self, 'init', ...config].join(' ');
  if (ci !== 'none') {
    const { start, caveat } = plan.installation;
    lines.push(`  key      ${pipeline?.keyPlace ?? "the CI's secret store: RUNGATE_API_KEY"}`);
    if (!plan.addressInFile)
      lines.push(`  url      ${pipeline?.addressPlace ?? 'a variable in the same place: RUNGATE_API_URL'}`);
    if (caveat !== null) {
      const pinned = start.split(' ').at(-1);
      lines.push(
        `  rungate  the pipeline runs ${pinned}, not the version in a lockfile:`,
        `           ${caveat}`,
      );
    }
  } else if (offersPipeline) {
    lines.push(`  pipeline ${init} --ci github (or gitlab, …)`);
  }
  return [
    ...lines,
    `  here     ${self} login --api-url <url>`,
    `           ${gate}`,
    `  offline  ${self} mock exec --retry-after 1 -- ${gate}`,
    '  commit   the new files; they contain no secret',
  ];
}
