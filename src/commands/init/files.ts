import { basename, dirname, join, relative } from 'node:path';
import {
  gateLines,
  type Pipeline,
  type Plan,
  pipelineFile,
  pipelineOf,
  timeoutFlag,
} from '../../ci/pipelines.ts';
import { isWritten, jobIn } from '../../ci/written-pipeline.ts';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { excerpt } from '../../sanitize.ts';
import { readProjectFile } from '../../settings/project-file.ts';
import type { CiChoice } from './answers.ts';

/** One file, and what becomes of it. */
export interface PlannedFile {
  readonly path: string;
  readonly text: string;
  /**
   * `kept`: it is there and says the same. `differs`: it is there, runs rungate, and is not replaced without --force. `shown`: it is
   * there, and the user puts the text into it.
   */
  readonly fate: 'written' | 'kept' | 'differs' | 'shown';
  /** What to do with a text that is shown, in words before the path. */
  readonly how?: string;
}

/** What to do with a pipeline whose file has other things, in words before the path of that file. */
function byHand({ file, added }: Pipeline, present: string, text: string, plan: Plan): string {
  if (added) {
    const other = basename(file).replace('.', '-gate.');
    return `put this into another file, such as ${other}: a workflow that does not run rungate is in`;
  }
  const job = jobIn(present, text, plan);
  if (job === null) return 'add this to';
  return runsRungate(present)
    ? `replace the job ${job} with this in`
    : `rename the job ${job}, and add this to`;
}

const runsRungate = (text: string) => /\brungate\b/.test(text);

/**
 * The text of a project file, read as any command would read it before it is written.
 * @throws UsageError for what no command would take
 */
export function projectFileText(path: string, fields: object): string {
  const text = `${JSON.stringify(fields, null, 2)}\n`;
  try {
    readProjectFile(path, new TextEncoder().encode(text));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // What is wrong was given by a flag or by a person: the file is not there yet.
    throw new UsageError(error.message.replace(/^.*?:\d+:\d+: /, ''), { hint: error.hint, cause: error });
  }
  return text;
}

/** The pipeline of a CI, and what becomes of its file; null where only the command is known. */
export function plannedPipeline(
  root: string,
  pipeline: Pipeline,
  plan: Plan,
  io: Pick<Io, 'exists' | 'readFile'>,
  force: boolean,
): PlannedFile {
  const path = join(root, pipelineFile(pipeline, plan));
  const text = pipeline.text(plan);
  if (!io.exists(path)) return { path, text, fate: 'written' };
  const present = new TextDecoder().decode(io.readFile(path));
  if (present.includes(text)) return { path, text, fate: 'kept' };
  // A file that has anything else is never replaced.
  const isOurs = pipeline.added ? runsRungate(present) : isWritten(present, text);
  if (isOurs) return { path, text, fate: force ? 'written' : 'differs' };
  return { path, text, fate: 'shown', how: byHand(pipeline, present, text, plan) };
}

/** The command of a step, for a CI of which nothing else is known. */
export function bareCommand(plan: Plan): string {
  const gate = gateLines(plan, '--junit rungate.xml', '').replace('\n', ' ');
  const { install } = plan.installation;
  return install === null ? gate : `${install} && ${gate}`;
}

/** Writes what is to be written, in order. @throws ConfigError that says what was written before */
export function writeFiles(io: Io, files: readonly PlannedFile[]): void {
  const done: string[] = [];
  for (const { path, text, fate } of files) {
    if (fate !== 'written') continue;
    try {
      io.writeFile(path, text);
    } catch (cause) {
      const { code = 'unknown' } = cause as NodeJS.ErrnoException;
      const before = done.length === 0 ? 'nothing was written' : `written before: ${done.join(', ')}`;
      throw new ConfigError(`${excerpt(path)} cannot be written (${code}); ${before}`, {
        hint: `check who may write to ${excerpt(dirname(path))}; --dry-run shows what would be written`,
        cause,
      });
    }
    done.push(excerpt(path));
  }
}

/** A path as a person in this folder writes it. */
export function shownPath(io: Io, path: string): string {
  return excerpt(relative(io.cwd, path) || path, 200);
}

/** What a command on this machine starts with, and the flags that it needs. */
export interface LocalCommands {
  readonly self: string;
  readonly config: readonly string[];
  readonly settings: readonly string[];
}

/** What is left to do, by a person; `wanted` is false for who has said that there shall be no pipeline. */
export function nextThings(
  ci: CiChoice,
  plan: Plan,
  { self, config, settings }: LocalCommands,
  wanted = true,
): string[] {
  const lines = ['Next:'];
  const words = [self, 'run trigger --wait --strict', ...config, ...settings, timeoutFlag(plan)];
  const gate = words.filter((word) => word !== '').join(' ');
  if (ci !== 'none') {
    const pipeline = pipelineOf(ci);
    const { start, caveat } = plan.installation;
    lines.push(`  key      ${pipeline?.keyPlace ?? "the CI's store of secrets: RUNGATE_API_KEY"}`);
    if (!plan.addressInFile)
      lines.push(`  address  ${pipeline?.addressPlace ?? 'beside it, as a variable: RUNGATE_API_URL'}`);
    if (caveat !== null) {
      const pinned = start.split(' ').at(-1);
      lines.push(
        `  rungate  the pipeline runs ${pinned}, and not what a lockfile names:`,
        `           ${caveat}`,
      );
    }
  } else if (wanted) {
    lines.push(`  pipeline ${[self, 'init', ...config].join(' ')} --ci github (or gitlab, …) writes it`);
  }
  return [
    ...lines,
    `  here     ${self} login --api-url <url>`,
    `           ${gate}`,
    `  offline  ${self} mock exec --retry-after 1 -- ${gate}`,
    '  commit   what was written; it holds no secret',
  ];
}
