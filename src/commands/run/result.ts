import { advice, headline, nameOf, story } from '../../ci/reports/wording.ts';
import { exitCodes } from '../../exit.ts';
import { type GateReport, type RunReport, shownAs, shownGate } from '../../gate/report.ts';
import type { Io } from '../../host/io.ts';
import type { Output } from '../../output/output.ts';
import type { Tone } from '../../output/paint.ts';
import type { Table } from '../../output/table.ts';
import type { Context } from '../context.ts';

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

/** Whether the table has all that there is to say of a run: its verdict, and nothing to do about it. */
function isPlain(run: RunReport): boolean {
  return shownAs(run) !== 'warn' && ['passed', 'failed', 'blocked', 'cancelled'].includes(run.verdict ?? '');
}

/** What a code means that the table does not explain to who sees it first. */
function meaning({ exitCode, interruptedBy }: GateReport): string {
  if (interruptedBy !== undefined) return '';
  if (exitCode === exitCodes.blocked) return ': something was blocked, nothing failed';
  return exitCode === exitCodes.cancelled ? ': a cancelled run, and the policy fails that' : '';
}

/** Loaded where it is shown: a gate in a CI has no use for it. */
async function printScreen(report: GateReport, { out, env }: Io, output: Output): Promise<void> {
  const [{ gateScreen }, { knowsLinks }] = await Promise.all([
    import('./result-screen.ts'),
    import('../../output/live/hyperlink.ts'),
  ]);
  // Colours are those of stderr: a result that goes elsewhere has none.
  const paint: Output['paint'] = output.oneScreen ? output.paint : (_tone, text) => text;
  const links = out.isTTY && knowsLinks(env);
  await output.result(await gateScreen(report, out.columns || 80, { paint, links }));
}

/** Prints the result on stdout, and what it means on stderr; on one terminal nothing is said twice. */
export async function printGate(report: GateReport, { io, output }: Context): Promise<void> {
  if (output.format === 'table') await printScreen(report, io, output);
  else await output.data(report, gateTable(report));
  for (const run of report.runs) {
    if (output.oneScreen && isPlain(run)) continue;
    const shown = shownAs(run);
    const [tone, mark] = marks[shown];
    const loud = shown === 'warn' ? ' WARNING:' : '';
    const url = run.appUrl === null || output.oneScreen ? '' : ` ${output.excerpt(run.appUrl, 500)}`;
    const say = shown === 'pass' ? output.note : output.alert;
    await say(`${output.paint(tone, `${mark}${loud}`)} ${nameOf(run)} ${story(run)}${url}`);
    const hint = advice(run);
    if (hint !== null) await say(`  ${output.paint('dim', '→')} ${output.excerpt(hint, 400)}`);
  }
  const shown = shownGate(report);
  const [tone, mark] = marks[shown];
  if (output.oneScreen) {
    const say = shown === 'pass' ? output.note : output.alert;
    await say(output.paint(tone, `${mark} ${headline(report)}${meaning(report)}`));
  } else if (report.gate === 'fail') {
    await output.alert(output.paint('bad', `gate failed (exit ${report.exitCode})`));
  }
}
