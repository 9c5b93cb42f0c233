import { type GateReport, type RunReport, shownAs } from '../../gate/report.ts';
import { hyperlink } from '../../output/live/hyperlink.ts';
import type { Tone } from '../../output/paint.ts';
import { drawRows, naturalWidths, type Row, tableWidth } from '../../output/table.ts';
import { columnsOf } from '../../output/wrap.ts';
import { sanitize } from '../../sanitize.ts';

/** What the terminal can. */
export interface ScreenStyle {
  paint(tone: Tone, text: string): string;
  links: boolean;
}

const tones = { pass: 'good', warn: 'warn', fail: 'bad' } as const satisfies Record<GateReport['gate'], Tone>;
const heads = ['RUN', 'VERDICT', 'STATE', 'FAILED', 'BLOCKED'] as const;
const verdictAt = 1;
const countsFrom = 3;

function cellsOf(run: RunReport): string[] {
  const texts = [run.runId, run.verdict, run.state, run.failed, run.blocked];
  return texts.map((text) => (text === null ? '-' : sanitize(String(text))));
}

/** Numbers are read from the right. */
function alignCounts(rows: readonly (readonly string[])[]): string[][] {
  const widths = naturalWidths(rows);
  const aligned = (cell: string, at: number) =>
    at < countsFrom ? cell : ' '.repeat((widths[at] ?? 0) - columnsOf(cell)) + cell;
  return rows.map((row) => row.map(aligned));
}

/**
 * The gate's result for a terminal of a width, to be read and to be copied from: ids and addresses are never broken.
 * An address that has no room in its run's line stands below it; so do the counts where the terminal is narrow.
 */
export function gateScreen(
  report: GateReport,
  columns: number,
  { paint, links }: ScreenStyle,
): Promise<string> {
  const runs = report.runs.map((run) => ({ run, cells: cellsOf(run), url: sanitize(run.appUrl ?? '') }));
  const [head = [], ...aligned] = alignCounts([heads, ...runs.map(({ cells }) => cells)]);
  const dim = (text: string) => paint('dim', text);
  const indented = (text: string) => (text === '' ? [] : [`  ${text}`]);
  const styleOf =
    (run: RunReport, url: string): NonNullable<Row['style']> =>
    (text, column) => {
      const { appUrl } = run;
      if (column === verdictAt) return paint(tones[shownAs(run)], text);
      const isLink = links && appUrl !== null && text.trimStart() === url;
      return isLink ? text.replace(url, () => hyperlink(appUrl, url)) : text;
    };
  const draw = (rows: readonly Row[]) => drawRows(rows, naturalWidths(rows.map(({ cells }) => cells)));

  const wide = [
    { cells: [...head, 'URL'], style: dim },
    ...runs.map(({ run, url }, at) => ({ cells: [...(aligned[at] ?? []), url], style: styleOf(run, url) })),
  ];
  if (tableWidth(naturalWidths(wide.map(({ cells }) => cells))) <= columns) return draw(wide);
  if (tableWidth(naturalWidths([head, ...aligned])) <= columns) {
    return draw([
      { cells: head, below: indented('URL'), style: dim },
      ...runs.map(({ run, url }, at) => ({
        cells: aligned[at] ?? [],
        below: indented(url),
        style: styleOf(run, url),
      })),
    ]);
  }
  return draw(
    runs.map(({ run, cells: [id = '', verdict = '', state, failed, blocked], url }) => ({
      cells: [id, verdict],
      below: [...indented(`${state}, ${failed} failed, ${blocked} blocked`), ...indented(url)],
      style: styleOf(run, url),
    })),
  );
}
