import {
  describeOther,
  describeOutcome,
  describeRun,
  headline,
  hintOf,
  othersOf,
} from '../../ci/reports/wording.ts';
import { exitCodes } from '../../exit.ts';
import { shownAs } from '../../gate/policy.ts';
import { decidingRuns, isSkipped, shownGate } from '../../gate/report.ts';
import type { GateReport, GatesReport, NamedGateReport, RunReport } from '../../gate/result-types.ts';
import type { EndEvent } from '../../library/reporter.ts';
import { wantsJson } from '../../output/json.ts';
import { hyperlink, supportsLinks } from '../../output/live/hyperlink.ts';
import { marks } from '../../output/live/model.ts';
import type { Output } from '../../output/output.ts';
import { type DrawnRow, drawRows, naturalWidths, tableWidth } from '../../output/table.ts';
import { columnsOf } from '../../output/text.ts';
import { excerpt, sanitize } from '../../sanitize.ts';
import type { Context } from '../context.ts';
import { printWaiting } from './closing.ts';

const heads = ['RUN', 'VERDICT', 'STATE', 'FAILED', 'BLOCKED'] as const;
/** The counts are the last columns of the heads. */
const countColumns = 2;

function cellsOf(run: RunReport): (string | null)[] {
  const { runId, state, failed, blocked } = run;
  const verdict = isSkipped(run) ? 'skipped' : run.verdict;
  return [runId, verdict, state, failed, blocked].map((cell) => (cell === null ? null : String(cell)));
}

function alignCounts(rows: readonly (readonly string[])[]): string[][] {
  const widths = naturalWidths(rows);
  const aligned = (cell: string, at: number) =>
    at < widths.length - countColumns ? cell : ' '.repeat((widths[at] ?? 0) - columnsOf(cell)) + cell;
  return rows.map((row) => row.map(aligned));
}

/** Returns the state and the counts of a run in a few words, as far as they are known. */
function progressOf({ state, failed, blocked }: RunReport): string {
  const counts = Object.entries({ failed, blocked }).flatMap(([noun, number]) =>
    number === null ? [] : `${number} ${noun}`,
  );
  return sanitize([...(state === null ? [] : [state]), ...counts].join(', '));
}

/**
 * Returns the result for a terminal: a table, or, if a line would not fit, an entry of two lines for each run, the second with its
 * address. On a narrow terminal, the counts have a line, too. Ids and addresses are never broken, so they can be copied.
 */
function gateScreen(report: GateReport, columns: number, paint: Output['paint'], links: boolean) {
  const decisive = decidingRuns(report);
  const named = decisive.some(({ name, runId }) => name !== null && name !== runId);
  const [id, ...others] = heads;
  const [head = [], ...rows] = alignCounts([
    named ? [id, 'ID', ...others] : heads,
    ...decisive.map((run) => [
      ...(named ? [excerpt(run.name ?? '-', 200)] : []),
      ...cellsOf(run).map((cell) => sanitize(cell ?? '-')),
    ]),
  ]);
  const runs = decisive.map((run, at) => {
    const { appUrl, runId } = run;
    const url = sanitize(appUrl ?? '');
    const [title = '', ...cells] = rows[at] ?? [];
    const [verdict = ''] = named ? cells.slice(1) : cells;
    const style = (text: string, column: number, verdictAt = 1) => {
      if (column === verdictAt) return paint(marks[shownAs(run)].tone, text);
      const isLink = links && appUrl !== null && text.trimStart() === url;
      return isLink ? text.replace(url, () => hyperlink(appUrl, url)) : text;
    };
    // Most addresses end in the id.
    const ids = named && runId !== null && !url.includes(runId) ? [sanitize(runId)] : [];
    const below = [...ids, url].filter(Boolean);
    return { title, cells, verdict, progress: progressOf(run), url, below, style };
  });
  const table: DrawnRow[] = [
    { cells: [...head, 'URL'], style: (text) => paint('dim', text) },
    ...runs.map(({ title, cells, url, style }) => ({
      cells: [title, ...cells, url],
      style: (text: string, column: number) => style(text, column, named ? 2 : 1),
    })),
  ];
  const entries = (isNarrow: boolean): DrawnRow[] =>
    runs.map(({ title, verdict, progress, below, style }) => ({
      cells: isNarrow ? [title, verdict] : [title, verdict, progress],
      below: [...(isNarrow ? [progress] : []), ...below].filter(Boolean).map((text) => `  ${text}`),
      style,
    }));
  const widthsOf = (layout: readonly DrawnRow[]) => naturalWidths(layout.map(({ cells }) => cells));
  const layouts = [table, entries(false), entries(true)];
  const layout = layouts.find((rows) => tableWidth(widthsOf(rows)) <= columns) ?? entries(true);
  return drawRows(layout, widthsOf(layout));
}

/** Returns whether the table says everything about a run: a verdict that needs no explanation and no advice. */
function saysEverything(run: RunReport, report: GateReport): boolean {
  return (
    othersOf(run, report).length === 0 &&
    (shownAs(run) === 'pass' ||
      (shownAs(run) === 'fail' && ['failed', 'blocked', 'cancelled'].includes(run.verdict ?? '')))
  );
}

/** Returns which of several gates did not pass: the table may be longer than the screen. */
function unmet(gates: readonly NamedGateReport[]): string {
  const wordOf = ({ result, exitCode, runs }: NamedGateReport) => {
    if (exitCode === null) return runs.length === 0 ? 'skipped' : 'stopped';
    return result === 'fail' ? 'failed' : result;
  };
  const texts = ['failed', 'stopped', 'skipped'].map((word) => {
    const names = gates.flatMap((gate) => (wordOf(gate) === word ? gate.name : []));
    return names.length === 0 ? '' : `${names.join(', ')} ${word}`;
  });
  return texts.filter(Boolean).join('; ');
}

/** Returns the meaning of an exit code that the table does not explain. */
function meaning({ exitCode, interruptedBy }: GateReport, gates: GatesReport | undefined): string {
  const ends = unmet(gates?.gates ?? []);
  if (ends !== '') return `: ${ends}`;
  if (interruptedBy !== undefined) return '';
  if (exitCode === exitCodes.blocked) return ': something was blocked, nothing failed';
  return exitCode === exitCodes.cancelled ? ': a run was cancelled, and the policy fails on that' : '';
}

async function printTable(
  report: GateReport,
  json: EndEvent['report'],
  { io: { out, env }, output }: Context,
): Promise<void> {
  const gates = 'gates' in json ? json : undefined;
  // In a log, the lines below say everything.
  if (output.isLog) return;
  if (output.format === 'table') {
    // The colours are chosen for stderr; a result that goes elsewhere has none.
    const paint: Output['paint'] = output.oneScreen ? output.paint : (_tone, text) => text;
    const links = out.isTTY && supportsLinks(env);
    return output.result(await gateScreen(report, output.columns, paint, links));
  }
  const rows = decidingRuns(report).map((run) => [...cellsOf(run), run.appUrl]);
  if (gates === undefined) return output.data(json, { head: [...heads, 'URL'], rows });
  // Without a run, the gate has one row, too.
  const names = gates.gates.flatMap(({ name, runs }) =>
    runs.length === 0 ? [name] : decidingRuns({ runs }).map(() => name),
  );
  const named = rows.map((row, at) => [names[at] ?? '', ...row]);
  return output.data(json, { head: ['GATE', ...heads, 'URL'], rows: named });
}

/** Prints the result on stdout and its meaning on stderr. If both are one terminal, nothing is printed twice. */
export async function printGate(end: EndEvent, context: Context): Promise<void> {
  const { result, next, exitCode } = end.report;
  if (result === 'waiting') await printWaiting(end.report, context.output);
  else await printEnd(end, context);
  // JSON has it in `next`, and the hub continues a detached gate.
  if (next !== undefined && exitCode !== exitCodes.ok && !wantsJson(context.output))
    await context.output.alert(`to continue, run: ${next.join(' ')}`);
}

async function printEnd(end: EndEvent, context: Context): Promise<void> {
  const report = end.runs();
  const gates = 'gates' in end.report ? end.report : undefined;
  const { output } = context;
  // In a log, the lines are the result, which `--quiet` prints, too.
  const printer = (shown: GateReport['result']) =>
    shown === 'pass' && !output.isLog ? output.note : output.alert;
  await printTable(report, end.report, context);
  for (const run of decidingRuns(report)) {
    if (output.oneScreen && saysEverything(run, report)) continue;
    const shown = shownAs(run);
    const { tone, symbol } = marks[shown];
    const loud = shown === 'warn' ? ' WARNING:' : '';
    // The page of a failed run comes last.
    const url =
      run.appUrl === null || output.oneScreen || shown === 'fail'
        ? ''
        : ` ${output.excerpt(run.appUrl, 500)}`;
    const print = printer(shown);
    await print(
      `${output.paint(tone, `${symbol}${loud}`)} ${describeRun(run)} ${describeOutcome(run)}${url}`,
    );
    const hint = hintOf(run);
    if (hint !== null) await print(`  ${output.paint('dim', '→')} ${output.excerpt(hint, 400)}`);
    // The log has said already which runs had failed.
    for (const other of othersOf(run, report).filter(({ verdict }) => verdict !== 'failed'))
      await print(`  ${describeOther(other)}`);
    await output.refused(run.error?.body);
  }
  // In a log, the line of a single run that did not fail already says the result.
  if (output.oneScreen || (gates !== undefined && report.result !== 'fail')) {
    const shown = shownGate(report);
    const { tone, symbol } = marks[shown];
    await printer(shown)(output.paint(tone, `${symbol} ${headline(report)}${meaning(report, gates)}`));
  } else if (report.result === 'fail') {
    await output.alert(output.paint('bad', `gate failed (exit ${report.exitCode})`));
  }
}
