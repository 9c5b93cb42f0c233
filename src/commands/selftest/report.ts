import type { Output } from '../../output/output.ts';
import type { Table } from '../../output/table.ts';
import { excerpt } from '../../sanitize.ts';
import type { StepJudgement } from './judge.ts';
import type { StepResult } from './scenarios.ts';

const lastLines = 8;

function got({ exitCode, stopped }: StepResult): string {
  return stopped ? `${exitCode} (stopped)` : String(exitCode);
}

function selftestTable(judgements: readonly StepJudgement[]): Table {
  return {
    // The hint is on standard error, too.
    optional: 1,
    head: ['SCENARIO', 'EXPECTED', 'EXIT', 'VERDICT', 'SECONDS', 'RUNS', 'HINT'],
    rows: judgements.map(({ result, verdict, hint }) => {
      const { name, expected } = result.scenario;
      const runs = String(result.runsCreated);
      const shown = verdict === 'ok' && hint !== null ? 'warning' : verdict === 'wrong' ? 'WRONG' : verdict;
      return [name, expected, got(result), shown, result.seconds.toFixed(1), runs, hint ?? ''];
    }),
  };
}

function selftestReport(judgements: readonly StepJudgement[]) {
  return {
    schemaVersion: 1,
    ok: judgements.every(({ verdict }) => verdict === 'ok'),
    scenarios: judgements.map(({ result, verdict, hint }) => {
      const { scenario, exitCode, seconds, runsCreated } = result;
      const { name, expected } = scenario;
      return { name, expected, exitCode, ok: verdict === 'ok', verdict, seconds, runsCreated, hint };
    }),
  };
}

function ending(text: string, lines: number): string[] {
  const printed = text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '');
  const hidden = printed.length - lines;
  const shown = printed.slice(-lines).map((line) => `  | ${excerpt(line, 300)}`);
  return hidden > 0 ? [`  … ${hidden} earlier lines`, ...shown] : shown;
}

/** Reports the end of a scenario, and with --verbose the output of the step. */
export async function reportStep(output: Output, result: StepResult): Promise<void> {
  const { scenario, seconds } = result;
  await output.note(`${scenario.name}: the step exited with ${got(result)} after ${seconds} s`);
  if (!output.verbose) return;
  for (const line of ending(result.output, Number.POSITIVE_INFINITY)) await output.alert(line);
}

const marks = { ok: ['warn', '!'], unknown: ['warn', '? UNKNOWN:'], wrong: ['bad', '✗ WRONG:'] } as const;

/** Summarises what the scenarios showed, and which kind was not run. */
function conclusion(judgements: readonly StepJudgement[]): string {
  const run = new Set(judgements.map(({ result }) => result.scenario.expected));
  const colors = ['red', 'green'] as const;
  const results = {
    red: 'the step fails when the gate fails',
    green: 'the step passes when the gate passes',
  };
  const shown = colors.filter((color) => run.has(color)).map((color) => results[color]);
  const missing = colors.filter((color) => !run.has(color)).map((color) => `no ${color} scenario was run`);
  return [...shown, ...missing].join('; ');
}

/** Prints the table or the JSON on stdout. For wrong scenarios, prints the cause and the last lines of the step on stderr. */
export async function printJudgements(output: Output, judgements: readonly StepJudgement[]): Promise<void> {
  await output.data(selftestReport(judgements), selftestTable(judgements));
  let lastHint: string | null = null;
  for (const { result, verdict, hint } of judgements) {
    if (verdict === 'ok' && hint === null) continue;
    const { name, expected } = result.scenario;
    const [tone, mark] = marks[verdict];
    await output.alert(
      `${output.paint(tone, mark)} ${name}: expected ${expected}, the step exited with ${got(result)}`,
    );
    if (hint !== null && hint !== lastHint) await output.alert(`  ${output.paint('dim', '→')} ${hint}`);
    lastHint = hint;
    if (verdict === 'ok' || output.verbose) continue;
    for (const line of ending(result.output, lastLines)) await output.alert(line);
  }
  const counts = (['wrong', 'unknown'] as const).flatMap((kind) => {
    const count = judgements.filter(({ verdict }) => verdict === kind).length;
    return count === 0 ? [] : `${count} of ${judgements.length} scenarios are ${kind}`;
  });
  if (counts.length > 0) await output.alert(output.paint('bad', counts.join(', ')));
  else await output.note(`${output.paint('good', '✓')} ${conclusion(judgements)}`);
}
