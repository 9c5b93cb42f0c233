import { advice, nameOf, story } from '../ci/reports/words.ts';
import type { GateReport } from '../gate/report.ts';
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

/** Prints the result on stdout, and what it means on stderr. */
export async function printGate(report: GateReport, output: Output): Promise<void> {
  await output.data(report, gateTable(report));
  for (const run of report.runs) {
    const [tone, mark] = marks[run.gate];
    const loud = run.gate === 'warn' ? ' WARNING:' : '';
    const url = run.appUrl === null ? '' : ` ${excerpt(run.appUrl, 500)}`;
    const say = run.gate === 'pass' ? output.note : output.alert;
    await say(`${output.paint(tone, `${mark}${loud}`)} ${nameOf(run)} ${story(run)}${url}`);
    const hint = advice(run);
    if (hint !== null) await say(`  ${output.paint('dim', '→')} ${excerpt(hint, 400)}`);
  }
  if (report.gate === 'fail')
    await output.alert(output.paint('bad', `gate failed (exit ${report.exitCode})`));
}
