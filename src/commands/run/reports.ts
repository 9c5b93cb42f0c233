import { resolve, sep } from 'node:path';
import { junitReport } from '../../ci/reports/junit.ts';
import { azureCommands, githubAnnotations } from '../../ci/reports/log-commands.ts';
import { markdownLimit, markdownReport } from '../../ci/reports/markdown.ts';
import { githubOutputs, gitlabDotenv } from '../../ci/reports/outputs.ts';
import { ConfigError, messageOf, UsageError } from '../../errors.ts';
import { exitCodes } from '../../exit.ts';
import type { GateReport } from '../../gate/result-types.ts';
import type { EndEvent } from '../../library/reporter.ts';
import type { Flags } from '../../options/table.ts';
import { renderJson } from '../../output/json.ts';
import type { Output } from '../../output/output.ts';
import type { Context } from '../context.ts';

const windows = sep === '\\';

/** Refuses report files that could not be written later, before anything is sent. */
export function checkReportFlags({ junit, report, receipt }: Flags): void {
  const files = [junit ?? [], report ?? [], receipt ?? []].flat();
  if (files.some((file) => file.trim() === '' || file === '-')) {
    throw new UsageError(
      '--junit, --report and --receipt need a file: standard output already has the result',
      {
        hint: 'name a file, such as --report gate.json; for JSON on standard output, use --json',
      },
    );
  }
  const paths = files.map((file) => (windows ? resolve(file).toLowerCase() : resolve(file)));
  if (new Set(paths).size < paths.length) {
    throw new UsageError('two reports have the same file: one would overwrite the other', {
      hint: 'give each report its own file',
    });
  }
}

/** Returns the report with the exit code, which a receipt that could not be written has changed. */
const withCode = <Report extends object>(report: Report, { exitCode }: EndEvent) => ({ ...report, exitCode });

/** Returns the report in the format of the ending, which is JSON unless it is `.md` or `.env`. */
function formatted(path: string, event: EndEvent): string {
  const runs = withCode(event.runs(), event);
  if (/\.md$/i.test(path)) return markdownReport(runs);
  return /\.env$/i.test(path) ? gitlabDotenv(runs) : renderJson(withCode(event.report, event), 2);
}

/** Returns the line break that is missing if another program left its last line unfinished. */
function gap(content: Uint8Array): string {
  return content.length === 0 || content.at(-1) === 0x0a ? '' : '\n';
}

/**
 * Refuses files that could not be written at the end, which may be an hour later. Only warns if the gate has begun, since its run
 * would go on.
 * @throws ConfigError
 */
export async function checkFiles(
  { io, output }: Context,
  what: string,
  paths: readonly string[],
  hasBegun: boolean,
): Promise<void> {
  for (const path of paths) {
    try {
      io.checkWritable(path);
    } catch (cause) {
      const problem = `the ${what} ${output.excerpt(path)} cannot be written: ${whyOf(cause, output)}`;
      const hint = remedyFor(cause);
      if (!hasBegun) throw new ConfigError(problem, { hint, cause });
      await output.warn(`${problem}; rungate goes on with the gate`, hint);
    }
  }
}

/** Writes the reports of `--junit` and `--report`. Returns false if one of them could not be written. */
async function writeFiles({ io, flags, output }: Context, event: EndEvent) {
  const { junit, report = [] } = flags;
  const files = [
    ...(junit === undefined
      ? []
      : [{ path: junit, text: junitReport(withCode(event.runs(), event), event) }]),
    ...report.map((path) => ({ path, text: formatted(path, event) })),
  ];
  let complete = true;
  for (const { path, text } of files) {
    try {
      io.writeFile(path, text);
    } catch (error) {
      complete = false;
      const what = `the report ${output.excerpt(path)} could not be written: ${whyOf(error, output)}`;
      await output.fault(what, remedyFor(error));
    }
  }
  return complete;
}

/** Appends to a file that the CI names. Only warns if that fails, since the user did not request the file. */
async function append(context: Context, variable: string, textAfter: (content: Uint8Array) => string) {
  const { io, output } = context;
  const path = io.env[variable];
  if (path === undefined || path === '') return;
  try {
    let full = false;
    io.appendFile(path, (content) => {
      const text = textAfter(content);
      full = text === '';
      return full ? '' : gap(content) + text;
    });
    if (full) await output.note(`the file that ${variable} names is full, so rungate added nothing to it`);
  } catch (error) {
    await output.alert(`the file that ${variable} names could not be written: ${whyOf(error, output)}`);
  }
}

/** Reports to the CI. Commands go to standard error, which GitHub's runner and Azure's agent parse like standard output. */
async function reportToCi(context: Context, report: GateReport, receipt: string | null): Promise<void> {
  const { io, output } = context;
  if (io.env.GITHUB_ACTIONS === 'true') {
    for (const line of githubAnnotations(report)) await output.alert(line);
    await append(context, 'GITHUB_OUTPUT', () =>
      githubOutputs(report, `rungate_${crypto.randomUUID()}`, receipt),
    );
    await append(context, 'GITHUB_STEP_SUMMARY', (content) => {
      const space = content.length === 0 ? '' : '\n';
      const left = markdownLimit - content.length - space.length - gap(content).length;
      const text = markdownReport(report, left);
      return text === '' ? '' : space + text;
    });
  }
  if (io.env.TF_BUILD?.toLowerCase() === 'true') {
    for (const line of azureCommands(report)) await output.alert(line);
  }
}

/** Writes the requested files and reports to the CI, even if no run could be started: reports of an earlier build must not stay. */
export async function writeReports(context: Context, event: EndEvent): Promise<void> {
  const complete = await writeFiles(context, event);
  // A report that could not be written fails a passing gate. A failing gate keeps its exit code.
  if (!complete) event.exitCode ||= exitCodes.config;
  if (context.flags.ciReport !== false)
    await reportToCi(context, withCode(event.runs(), event), event.receipt);
}

export function whyOf(error: unknown, output: Output): string {
  return output.excerpt(messageOf(error));
}

const remedies: Readonly<Record<string, string>> = {
  EISDIR: 'it is a folder: name a file in it',
  ERR_FS_EISDIR: 'it is a folder: name a file in it',
  ENOTDIR: 'a part of the path is a file: check the path',
  EACCES: 'name a file that you may write to',
  EPERM: 'name a file that you may write to',
  EROFS: 'it is read-only: name a file on another file system',
  ENOSPC: 'free some space on the disk',
};

export function remedyFor(error: unknown): string {
  const { code = '' } = error as NodeJS.ErrnoException;
  return remedies[code] ?? 'check the path and its permissions';
}
