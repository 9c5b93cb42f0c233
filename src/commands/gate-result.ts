import { formatDuration } from '../duration.ts';
import type { GateReport, RunReport } from '../gate/report.ts';
import type { Output, Tone } from '../output/output.ts';
import type { Table } from '../output/table.ts';
import { excerpt } from '../sanitize.ts';

const unknown = '-';

export function gateTable(report: GateReport): Table {
  return {
    head: ['RUN', 'VERDICT', 'STATE', 'FAILED', 'BLOCKED', 'URL'],
    rows: report.runs.map((run) => [
      run.runId ?? unknown,
      run.verdict ?? unknown,
      run.state ?? unknown,
      String(run.failed ?? unknown),
      String(run.blocked ?? unknown),
      run.appUrl ?? unknown,
    ]),
  };
}

const marks = { pass: ['good', '✓'], warn: ['warn', '!'], fail: ['bad', '✗'] } as const satisfies Record<
  GateReport['gate'],
  readonly [Tone, string]
>;

/** What became of one run, in words; `unobserved` is told apart from what the run itself did. */
function story(run: RunReport): string {
  const { failed, blocked } = run;
  const after = `after ${formatDuration(run.elapsedSeconds * 1000)} and ${run.attempts} reads`;
  switch (run.verdict) {
    case 'passed':
      return 'passed: 0 failed, 0 blocked';
    case 'failed':
      return `failed: ${failed} failed, ${blocked} blocked`;
    case 'blocked':
      return `blocked: 0 failed, ${blocked} blocked`;
    case 'cancelled':
      return 'was cancelled and has tested nothing to its end';
    case 'timeout':
      return `had not ended ${after} (state ${excerpt(run.state ?? unknown, 40)})`;
    case 'unobserved':
      return `could not be observed: ${excerpt(run.error?.message ?? '', 400)}`;
    case null:
      return run.runId === null
        ? `may have been created; find it by its idempotency key ${run.idempotencyKey}`
        : 'had not ended when we were stopped';
  }
}

function advice(run: RunReport): string | null {
  if (run.verdict === 'unobserved') return run.error?.hint ?? null;
  if (run.verdict === 'timeout')
    return 'allow more with --timeout, or cancel what is late with --cancel-on-timeout';
  if (run.verdict === 'cancelled' && run.gate === 'warn')
    return 'the gate lets it pass; --strict makes it fail';
  return null;
}

/** Prints the result on stdout, and what it means on stderr. */
export async function printGate(report: GateReport, output: Output): Promise<void> {
  await output.data(report, gateTable(report));
  for (const run of report.runs) {
    const [tone, mark] = marks[run.gate];
    const loud = run.gate === 'warn' ? ' WARNING:' : '';
    const url = run.appUrl === null ? '' : ` ${excerpt(run.appUrl, 500)}`;
    const say = run.gate === 'pass' ? output.note : output.alert;
    const name = run.runId === null ? 'a run' : `run ${excerpt(run.runId, 80)}`;
    await say(`${output.paint(tone, `${mark}${loud}`)} ${name} ${story(run)}${url}`);
    const hint = advice(run);
    if (hint !== null) await say(`  ${output.paint('dim', '→')} ${excerpt(hint, 400)}`);
  }
  if (report.gate === 'fail')
    await output.alert(output.paint('bad', `gate failed (exit ${report.exitCode})`));
}
