import { type GateReport, type RunReport, shownAs } from '../../gate/report.ts';
import { headline, paragraph, title } from './wording.ts';

const escapes: Readonly<Record<string, string>> = { '\n': '|n', '\r': '|r' };

/** A value between quotes: TeamCity's own escapes, and what is not plain ASCII by its code. */
function value(text: string): string {
  return text
    .replace(/[|'[\]]/g, '|$&')
    .replace(
      /[^\u0020-\u007e]/g,
      (char) => escapes[char] ?? `|0x${char.charCodeAt(0).toString(16).padStart(4, '0').toUpperCase()}`,
    );
}

function message(name: string, attributes: Readonly<Record<string, string>>): string {
  const list = Object.entries(attributes).map(([key, text]) => ` ${key}='${value(text)}'`);
  return `##teamcity[${name}${list.join('')}]`;
}

/** TeamCity cuts a problem's description there. */
const longest = 4000;

function test(run: RunReport): string[] {
  const name = title(run);
  const ms = Math.round(run.elapsedSeconds * 1000);
  const duration = Number.isSafeInteger(ms) && ms >= 0 ? String(ms) : '0';
  const [told, ...details] = paragraph(run);
  // A failed test makes the build red, whatever the exit code says: only where the gate fails.
  const result =
    shownAs(run) === 'fail'
      ? message('testFailed', { name, message: told ?? '', details: details.join('\n') })
      : message('testIgnored', { name, message: told ?? '' });
  return [
    message('testStarted', { name }),
    ...(run.verdict === 'passed' ? [] : [result]),
    message('testFinished', { name, duration }),
  ];
}

/** Service messages, one in a line: a test per run, a build problem for each that fails the gate, and the build's status line. */
export function teamcityMessages(report: GateReport): string[] {
  const problems = report.runs
    .filter((run) => shownAs(run) === 'fail')
    .map((run) =>
      message('buildProblem', { description: `rungate: ${paragraph(run)[0]}`.slice(0, longest) }),
    );
  return [
    message('testSuiteStarted', { name: 'rungate' }),
    ...report.runs.flatMap(test),
    message('testSuiteFinished', { name: 'rungate' }),
    ...problems,
    message('buildStatus', { text: `{build.status.text}; rungate: ${headline(report)}` }),
  ];
}
