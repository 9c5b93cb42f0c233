import { codesOf, shownAs, worst } from '../../gate/policy.ts';
import { decidingRuns, isSkipped } from '../../gate/report.ts';
import type { GateReport, RunReport } from '../../gate/result-types.ts';
import { sanitize } from '../../sanitize.ts';

/** Returns the run that the outputs describe: the first of the worst runs whose verdict gives the exit code. */
export function shownRun(report: GateReport): RunReport | undefined {
  const runs = decidingRuns(report);
  const shown = worst(runs.map(shownAs));
  const worstRuns = runs.filter((run) => shownAs(run) === shown && !isSkipped(run));
  const isStopped = report.interruptedBy !== undefined;
  const hasVerdict = ({ verdict }: RunReport) =>
    verdict === null ? isStopped : !isStopped && codesOf[verdict].includes(report.exitCode);
  const isDecisive = (run: RunReport) => run.action === report.result;
  return worstRuns.find(hasVerdict) ?? worstRuns.find(isDecisive) ?? worstRuns[0];
}

/** Returns a count from the service; empty if it is not a valid count. */
function digits(value: number | null | undefined): string {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? String(value) : '';
}

/** Returns the text, or '' if printing it could execute a CI command: later steps print it unchanged. */
function harmless(text: string | null | undefined): string {
  return typeof text === 'string' && sanitize(text) === text ? text : '';
}

/** Returns the outputs for later steps, each in one line; empty if unknown. */
export function gateOutputs(report: GateReport) {
  const run = shownRun(report);
  return {
    runId: harmless(run?.runId),
    verdict: run?.verdict ?? '',
    result: report.result,
    exitCode: digits(report.exitCode),
    failed: digits(run?.failed),
    blocked: digits(run?.blocked),
    appUrl: harmless(run?.appUrl),
  };
}

export function variableOf(output: string): string {
  return `RUNGATE_${output.replace(/[A-Z]/g, '_$&').toUpperCase()}`;
}

/**
 * Returns the lines for the file that `GITHUB_OUTPUT` names, which become `steps.<id>.outputs.run-id` and so on. `delimiter`
 * must be random: a value that contained it could add other outputs.
 * @param receipt the path of the receipt that was written, or null
 */
export function githubOutputs(report: GateReport, delimiter: string, receipt: string | null = null): string {
  const outputs = { ...gateOutputs(report), ...(receipt === null ? {} : { receipt: harmless(receipt) }) };
  return Object.entries(outputs)
    .map(([output, value]) => {
      const name = output.replace(/[A-Z]/g, '-$&').toLowerCase();
      if (value.includes(delimiter)) throw new Error(`the delimiter is part of the output ${name}`);
      return `${name}<<${delimiter}\n${value}\n${delimiter}\n`;
    })
    .join('');
}

/** GitLab rejects a file of 5 KB or more. */
const dotenvLimit = 5 * 1024 - 1;

/**
 * Matches the values that are written. GitLab expands `$`, and a shell that reads the file would interpret spaces, quotes and
 * operators, so a value with any other character is left out.
 */
const plain = /^[\w.:/?#@,+=%~-]+$/;

/** Returns a `dotenv` report artifact: a line for each variable that is known. */
export function gitlabDotenv(report: GateReport): string {
  const { result, exitCode, verdict, failed, blocked, runId, appUrl } = gateOutputs(report);
  const { state, idempotencyKey } = shownRun(report) ?? {};
  const outputs = { result, exitCode, verdict, failed, blocked, runId, appUrl, state, idempotencyKey };
  let text = '';
  for (const [output, value] of Object.entries(outputs)) {
    const line = `${variableOf(output)}=${value}\n`;
    // Plain characters are ASCII, one byte each.
    if (plain.test(value ?? '') && text.length + line.length <= dotenvLimit) text += line;
  }
  return text;
}
