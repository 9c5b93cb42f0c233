import { count } from '../../count.ts';
import { bySeverity, shownAs } from '../../gate/policy.ts';
import { decidingRuns, shownGate, verdictText } from '../../gate/report.ts';
import type { GateReport, RunReport } from '../../gate/result-types.ts';
import { parseUrl } from '../../parse-url.ts';
import { excerpt } from '../../sanitize.ts';
import { describeOther, describeOutcome, describeRun, headline, hintOf, othersOf } from './wording.ts';

/** The limit of GitHub for a step's summary, and of Buildkite for an annotation, in bytes of UTF-8. */
export const markdownLimit = 1024 * 1024;

const longestUrl = 2000;
const marks = { pass: '✅', warn: '⚠️', fail: '❌', waiting: '⏳' } as const;

/**
 * Returns untrusted text as a code span, in which markup, HTML, mentions, references and links have no effect. A pipe would
 * end a table cell even in a code span, so it is shown as an escape.
 */
function code(text: string, limit: number): string {
  const line = excerpt(text, limit).replaceAll('|', '\\u007c');
  const longest = Math.max(0, ...(line.match(/`+/g) ?? []).map((ticks) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  // A parser removes one space from both sides, and a backtick at either end would lengthen the fence.
  const space = /^[ `]|[ `]$/.test(line) ? ' ' : '';
  return line.trim() === '' ? '–' : `${fence}${space}${line}${space}${fence}`;
}

/** Returns a web address that Markdown reads only as the target of a link; null for any other text. */
function destination(text: string): string | null {
  const url = text.length > longestUrl ? null : parseUrl(text);
  if (url === null) return null;
  if (!['https:', 'http:'].includes(url.protocol) || url.username !== '' || url.password !== '') return null;
  // The brackets of an IPv6 address would be read as the text of a link.
  if (url.hostname.startsWith('[')) return null;
  const plain = url.href.replace(
    /[^\w.~:/?#%=+,;@&-]/g,
    (char) => `%${char.charCodeAt(0).toString(16).padStart(2, '0')}`,
  );
  return plain.replaceAll('&', '&amp;');
}

function link(run: RunReport): string {
  if (run.appUrl === null) return '–';
  const address = destination(run.appUrl);
  return address === null ? code(run.appUrl, 200) : `[open](${address})`;
}

function runCell({ name, runId }: RunReport): string {
  const id = runId === null ? '–' : code(runId, 80);
  if (name === null || name === runId) return id;
  return runId === null ? code(name, 200) : `${code(name, 200)} (${id})`;
}

function row(run: RunReport): string {
  const cells = [
    marks[shownAs(run)],
    runCell(run),
    verdictText(run),
    run.state === null ? '–' : code(run.state, 40),
    String(run.failed ?? '–'),
    String(run.blocked ?? '–'),
    link(run),
  ];
  return `| ${cells.join(' | ')} |\n`;
}

function note(run: RunReport, report: GateReport): string {
  const hint = hintOf(run);
  const next = hint === null ? '' : ` → ${code(hint, 400)}`;
  const others = othersOf(run, report).map((other) => {
    const page = other.appUrl === null ? '' : ` ${link(other)}`;
    return `  - ${describeOther(other, code)}${page}\n`;
  });
  return `- ${describeRun(run, code)} ${describeOutcome(run, code)}${next}\n${others.join('')}`;
}

const head = '| | Run | Verdict | State | Failed | Blocked | |\n|---|---|---|---|---:|---:|---|\n';

const cancellations = {
  requested: 'rungate requested the cancellation of the runs that were still in progress.',
  failed: 'rungate could not cancel the runs that were still in progress: they may continue.',
  none: 'rungate did not cancel the runs that were still in progress: they continue.',
} as const;

function render(report: GateReport, runs: readonly RunReport[], shown: number): string {
  const some = runs.slice(0, shown);
  const notable = some.filter((run) => shownAs(run) !== 'pass');
  const missing = runs.length - shown;
  const parts = [
    `### ${marks[shownGate(report)]} rungate: ${headline(report)}\n`,
    some.length === 0 ? '' : head + some.map(row).join(''),
    missing === 0 ? '' : `${count(missing, 'more run')} did not fit here: the log has the full result.\n`,
    notable.map((run) => note(run, report)).join(''),
    report.cancellation === undefined ? '' : `${cancellations[report.cancellation]}\n`,
  ];
  return parts.filter((part) => part !== '').join('\n');
}

/** Returns the gate for a job's summary page: the verdict first, failed runs before passed ones, at most `limit` bytes. */
export function markdownReport(report: GateReport, limit = markdownLimit): string {
  const runs = decidingRuns(report).sort((a, b) => bySeverity(shownAs(a), shownAs(b)));
  let shown = runs.length;
  let text = render(report, runs, shown);
  for (;;) {
    const size = new TextEncoder().encode(text).length;
    if (size <= limit) return text;
    if (shown === 0) return '';
    shown = Math.max(0, Math.min(shown - 1, Math.floor((shown * limit) / size)));
    text = render(report, runs, shown);
  }
}
