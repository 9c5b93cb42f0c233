import type { Output } from '../../output/output.ts';
import type { Table } from '../../output/table.ts';
import { excerpt } from '../../sanitize.ts';
import type { Judgement } from './judge.ts';
import type { StepResult } from './scenarios.ts';

/** How many of the last lines of a step are shown where it is wrong. */
const lastLines = 8;

function got({ exitCode, stopped }: StepResult): string {
  return stopped ? `${exitCode} (stopped)` : String(exitCode);
}

function selftestTable(judgements: readonly Judgement[]): Table {
  return {
    // The hint is on stderr as well.
    optional: 1,
    head: ['SCENARIO', 'EXPECTED', 'EXIT', 'VERDICT', 'SECONDS', 'RUNS', 'HINT'],
    rows: judgements.map(({ result, ok, hint }) => {
      const { name, expected } = result.scenario;
      const right = hint === null ? 'ok' : 'warning';
      const runs = String(result.runsCreated);
      return [name, expected, got(result), ok ? right : 'WRONG', result.seconds.toFixed(1), runs, hint ?? ''];
    }),
  };
}

/** The shape that `--json` prints: a promise to users. */
function selftestReport(judgements: readonly Judgement[]): object {
  return {
    schemaVersion: 1,
    ok: judgements.every(({ ok }) => ok),
    scenarios: judgements.map(({ result, ok, hint }) => {
      const { scenario, exitCode, seconds, runsCreated } = result;
      const { name, expected } = scenario;
      return { name, expected, exitCode, ok, seconds, runsCreated, hint };
    }),
  };
}

/** The last lines that a step has printed, each harmless. */
function ending(text: string, lines: number): string[] {
  const printed = text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '');
  const left = printed.length - lines;
  const shown = printed.slice(-lines).map((line) => `  | ${excerpt(line, 300)}`);
  return left > 0 ? [`  … ${left} lines before these`, ...shown] : shown;
}

/** Says how a scenario went, as soon as it is over; with --verbose what the step has printed, too. */
export async function tellStep(output: Output, result: StepResult): Promise<void> {
  const { scenario, seconds } = result;
  await output.note(`${scenario.name}: the step ended with ${got(result)} after ${seconds} s`);
  if (!output.verbose) return;
  for (const line of ending(result.output, Number.POSITIVE_INFINITY)) await output.alert(line);
}

/** Returns what the scenarios show, and which kind of them was not run. */
function conclusion(judgements: readonly Judgement[]): string {
  const run = new Set(judgements.map(({ result }) => result.scenario.expected));
  const colors = ['red', 'green'] as const;
  const shown = colors.filter((color) => run.has(color)).map((color) => `${color} turns ${color}`);
  const missing = colors.filter((color) => !run.has(color)).map((color) => `no ${color} scenario was run`);
  return [shown.join(' and '), ...missing].filter((part) => part !== '').join('; ');
}

/** Prints the table or the JSON on stdout; on stderr, of what is wrong, why, and the last lines of the step. */
export async function printJudgements(output: Output, judgements: readonly Judgement[]): Promise<void> {
  await output.data(selftestReport(judgements), selftestTable(judgements));
  let told: string | null = null;
  for (const { result, ok, hint } of judgements) {
    if (ok && hint === null) continue;
    const { name, expected } = result.scenario;
    const [tone, mark] = ok ? (['warn', '!'] as const) : (['bad', '✗ WRONG:'] as const);
    await output.alert(
      `${output.paint(tone, mark)} ${name}: expected ${expected}, the step ended with ${got(result)}`,
    );
    if (hint !== null && hint !== told) await output.alert(`  ${output.paint('dim', '→')} ${hint}`);
    told = hint;
    if (ok || output.verbose) continue;
    for (const line of ending(result.output, lastLines)) await output.alert(line);
  }
  const wrong = judgements.filter(({ ok }) => !ok).length;
  if (wrong > 0)
    await output.alert(output.paint('bad', `${wrong} of ${judgements.length} scenarios are wrong`));
  else await output.note(`${output.paint('good', '✓')} ${conclusion(judgements)}`);
}
