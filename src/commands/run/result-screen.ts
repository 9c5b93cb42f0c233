import { type GateReport, type RunReport, shownAs } from '../../gate/report.ts';
import { hyperlink } from '../../output/live/hyperlink.ts';
import { columnsOf, pad } from '../../output/live/text.ts';
import type { Tone } from '../../output/output.ts';
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
const gap = '  ';

function cellsOf(run: RunReport): string[] {
  const texts = [run.runId, run.verdict, run.state, run.failed, run.blocked];
  return texts.map((text) => (text === null ? '-' : sanitize(String(text))));
}

/**
 * The gate's result for a terminal of a width, to be read and to be copied from: ids and addresses are never broken.
 * An address that has no room in its run's line stands below it; so do the counts where the terminal is narrow. Pure.
 */
export function gateScreen(report: GateReport, columns: number, { paint, links }: ScreenStyle): string {
  const rows = report.runs.map((run) => ({ run, cells: cellsOf(run), url: sanitize(run.appUrl ?? '') }));
  const widths = heads.map((head, at) =>
    rows.reduce((most, { cells }) => Math.max(most, columnsOf(cells[at] ?? '')), head.length),
  );
  const width = widths.reduce((sum, one) => sum + one + gap.length, -gap.length);
  const urls = Math.max(0, ...rows.map(({ url }) => columnsOf(url)));
  const linked = (run: RunReport, url: string) =>
    links && run.appUrl !== null ? hyperlink(run.appUrl, url) : url;
  const filled = (cells: readonly string[]) =>
    cells.map((cell, at) => pad(cell, widths[at] ?? 0, at < countsFrom ? 'left' : 'right'));
  const painted = (run: RunReport, cells: readonly string[]) =>
    cells.map((cell, at) => (at === verdictAt ? paint(tones[shownAs(run)], cell) : cell));
  const line = (parts: readonly string[]) => parts.join(gap).trimEnd();
  const below = (text: string) => (text === '' ? [] : [`${gap}${text}`]);

  if (width + gap.length + urls <= columns) {
    const head = paint('dim', line([...filled(heads), 'URL']));
    const lines = rows.map(({ run, cells, url }) => line([...painted(run, filled(cells)), linked(run, url)]));
    return `${[head, ...lines].join('\n')}\n`;
  }
  if (width <= columns) {
    const head = [line(filled(heads)), `${gap}URL`].map((text) => paint('dim', text));
    const lines = rows.flatMap(({ run, cells, url }) => [
      line(painted(run, filled(cells))),
      ...below(linked(run, url)),
    ]);
    return `${[...head, ...lines].join('\n')}\n`;
  }
  const lines = rows.flatMap(({ run, cells, url }) => {
    const [id = '', verdict = '', state, failed, blocked] = cells;
    return [
      line([id, paint(tones[shownAs(run)], verdict)]),
      ...below(`${state}, ${failed} failed, ${blocked} blocked`),
      ...below(linked(run, url)),
    ];
  });
  return `${lines.join('\n')}\n`;
}
