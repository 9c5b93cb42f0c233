import { randomUUID } from 'node:crypto';
import { type JunitFacts, junitReport } from '../../ci/reports/junit.ts';
import { azureCommands, githubAnnotations, teamcityMessages } from '../../ci/reports/log-commands.ts';
import { markdownLimit, markdownReport } from '../../ci/reports/markdown.ts';
import { githubOutputs, gitlabDotenv } from '../../ci/reports/outputs.ts';
import { RungateError, reportError } from '../../errors.ts';
import { exitCodeOf, exitCodes } from '../../exit.ts';
import { type GateReport, type RunReport, redactReport, unknownRun } from '../../gate/report.ts';
import { renderJson } from '../../output/json.ts';
import type { Context } from '../context.ts';
import { remedyFor, whyOf } from './unwritable.ts';
import type { ReportFlags } from './wait-flags.ts';

/** The formats of `--report` by the file's ending. Any other ending means JSON. */
const formats: readonly (readonly [ending: string, format: (report: GateReport) => string])[] = [
  ['.md', (report) => markdownReport(report)],
  ['.env', gitlabDotenv],
  ['.teamcity', (report) => `${teamcityMessages(report).join('\n')}\n`],
];

function formatted(path: string, report: GateReport, data: unknown): string {
  const format = formats.find(([ending]) => path.toLowerCase().endsWith(ending));
  return format === undefined ? renderJson(data, 2) : format[1](report);
}

/** Returns the line break that is missing if another program left its last line unfinished. */
function gap(content: Uint8Array): string {
  return content.length === 0 || content.at(-1) === 0x0a ? '' : '\n';
}

/** Writes the reports of `--junit` and `--report`. Returns false if one of them could not be written. */
async function writeFiles(
  { io, output }: Context,
  report: GateReport,
  flags: ReportFlags,
  facts: JunitFacts,
  data: unknown,
) {
  const files = [
    ...(flags.junit === undefined ? [] : [{ path: flags.junit, text: junitReport(report, facts) }]),
    ...(flags.report ?? []).map((path) => ({ path, text: formatted(path, report, data) })),
  ];
  let complete = true;
  for (const { path, text } of files) {
    try {
      io.writeFile(path, text);
    } catch (error) {
      complete = false;
      const what = `the report ${output.excerpt(path)} could not be written: ${whyOf(error, output)}`;
      await output.alert(`${output.paint('bad', 'error:')} ${what}`);
      await output.alert(`  → ${remedyFor(error)}`);
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

/**
 * Reports to the CI. Commands go to standard error, which GitHub's runner and Azure's agent parse like standard output.
 * TeamCity only promises to parse standard output, which carries the result.
 */
async function reportToCi(context: Context, report: GateReport, receipt: string | null): Promise<void> {
  const { io, output } = context;
  if (io.env.GITHUB_ACTIONS === 'true') {
    for (const line of githubAnnotations(report)) await output.alert(line);
    await append(context, 'GITHUB_OUTPUT', () => githubOutputs(report, `rungate_${randomUUID()}`, receipt));
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

/**
 * Writes the requested files and reports to the CI. The report must be redacted. Returns the exit code of the command.
 * @param receipt the path of the receipt that was written, or null
 * @param data the result as JSON
 */
export async function writeReports(
  context: Context,
  report: GateReport,
  flags: ReportFlags,
  facts: JunitFacts,
  receipt: string | null = null,
  data: unknown = report,
): Promise<number> {
  const complete = await writeFiles(context, report, flags, facts, data);
  // A report that could not be written fails a passing gate. A failing gate keeps its exit code.
  const exitCode = complete || report.exitCode !== exitCodes.ok ? report.exitCode : exitCodes.config;
  if (flags.ciReport !== false) await reportToCi(context, { ...report, exitCode }, receipt);
  return exitCode;
}

/**
 * Writes the reports after an error before the wait. Otherwise the report of an earlier build would stay in place.
 */
export async function writeUnstarted(
  context: Context,
  error: unknown,
  known: readonly Partial<RunReport>[],
  flags: ReportFlags,
  facts: JunitFacts,
): Promise<void> {
  if (!(error instanceof RungateError)) return;
  const why = { verdict: 'unobserved', error: reportError(error) } as const;
  const runs = known.map((run) => unknownRun({ ...run, ...why }));
  const report: GateReport = { schemaVersion: 1, gate: 'fail', exitCode: exitCodeOf(error), runs };
  await writeReports(context, redactReport(report, context.output.redact), flags, facts);
}
