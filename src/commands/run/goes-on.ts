import { describeRun } from '../../ci/reports/wording.ts';
import { formatDuration } from '../../duration.ts';
import type { GateReport, GatesReport, RunReport } from '../../gate/result-types.ts';
import { wantsJson } from '../../output/json.ts';
import type { Output } from '../../output/output.ts';
import type { Context } from '../context.ts';
import { quotedCommand } from '../shell-quoted.ts';

const goesOn = ({ verdict }: RunReport) => verdict === null;

function lineOf(run: RunReport): string {
  const counts = `${run.failed ?? '?'} failed, ${run.blocked ?? '?'} blocked`;
  const after = formatDuration(Math.round(run.elapsedSeconds) * 1000);
  return `${describeRun(run)} goes on: ${run.state ?? 'not read yet'} after ${after} (${counts})`;
}

/** Prints what goes on after a slice. Only JSON has a result on stdout. */
export async function printWaiting(report: GateReport | GatesReport, output: Output): Promise<void> {
  if (wantsJson(output)) await output.data(report, { head: [], rows: [] });
  const gates = 'gates' in report ? report.gates : [{ name: '', ...report }];
  for (const { name, result, runs } of gates) {
    const title = name === '' ? '' : `${name}: `;
    const live = runs.filter(goesOn).map(lineOf);
    const lines = live.length > 0 || result !== 'waiting' ? live : ['no run has been started yet'];
    for (const line of lines) await output.alert(output.excerpt(`${title}${line}`, 400));
  }
  await output.alert(`the slice is over (exit ${report.exitCode}): the gate has neither passed nor failed`);
}

/** Prints the command that goes on with the gate. JSON has it in `next`. */
export async function printNext(next: readonly string[], { io, output }: Context): Promise<void> {
  if (wantsJson(output)) return;
  const command = quotedCommand(next, io.platform);
  await output.alert(
    command === null ? 'to go on, run the command that --json has in next' : `to go on, run: ${command}`,
  );
}
