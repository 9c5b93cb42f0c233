import { shownAs } from '../../gate/policy.ts';
import {
  decidingRuns,
  isSkipped,
  type Suite,
  type SuitesReport,
  suitesOf,
  verdictText,
} from '../../gate/report.ts';
import type { GateReport, RunReport } from '../../gate/result-types.ts';
import { describeOutcome, headline, messageLines, othersOf, runTitle } from './wording.ts';

/** Characters that XML 1.0 cannot contain, not even as a reference: controls, lone surrogates and two non-characters. */
const forbidden =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Includes characters that a parser changes (a carriage return) and characters that are rarely visible. */
const special = /[&<>"'\r\u007f-\u009f\u2028\u2029]/g;

const names: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};

function reference(char: string): string {
  return names[char] ?? `&#${char.charCodeAt(0)};`;
}

/** Returns the text as character data, which a parser reads unchanged. Characters that XML cannot contain are removed. */
function xmlText(text: string): string {
  return text.replace(forbidden, '').replace(special, reference);
}

/** Returns the text for an attribute, where a parser would turn tabs and line breaks into spaces. */
function attributeText(text: string): string {
  return xmlText(text).replace(/[\t\n]/g, reference);
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** `inside` is XML. */
function element(name: string, attributes: Attributes, inside = ''): string {
  const present = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const list = present.map(([key, value]) => ` ${key}="${attributeText(String(value))}"`).join('');
  return inside === '' ? `<${name}${list}/>` : `<${name}${list}>${inside}</${name}>`;
}

/** Facts that are not part of the gate's result. */
export interface JunitFacts {
  /** Start of the wait, in milliseconds since the epoch. */
  startedAt?: number | undefined;
}

type Result = 'passed' | 'failure' | 'error' | 'skipped';

/**
 * Returns the result of a test case: what the run did, whatever the policy. Only for a cancelled run does the policy decide
 * whether it is a failure. An unknown outcome is an error, and so is the outcome of another build.
 */
function resultOf(run: RunReport): Result {
  switch (run.verdict) {
    case 'passed':
    case 'flaky':
      return shownAs(run) === 'fail' ? 'failure' : 'passed';
    case 'failed':
    case 'blocked':
      return 'failure';
    case 'cancelled':
      return shownAs(run) === 'fail' ? 'failure' : 'skipped';
    case 'timeout':
    case 'unobserved':
    case 'mismatch':
      return 'error';
    case null:
      return isSkipped(run) ? 'skipped' : 'error';
  }
}

/** Returns seconds with three decimals and without an exponent. */
function secondsText(value: number): string {
  return Number.isFinite(value) && value > 0 && value < 1e15 ? value.toFixed(3) : '0.000';
}

function elapsed(run: RunReport, report: GateReport): number {
  return runsOf(run, report).reduce((total, { elapsedSeconds }) => total + elapsedSeconds, 0);
}

/** Returns the project with the process or tags, as in `shop.checkout`; `rungate` if they are unknown. */
function className({ project, process, tags }: RunReport): string {
  return project === null ? 'rungate' : `${project}.${process ?? tags?.join('+')}`;
}

const failureOf = (run: RunReport) => ({ type: verdictText(run), message: describeOutcome(run) });

const linesOf = (run: RunReport) => xmlText(messageLines(run).join('\n'));

/** Returns a run of a gate with retries, as Surefire writes it (surefire-test-report-3.0.xsd). */
function rerun(kind: 'rerun' | 'flaky', run: RunReport): string {
  const name = `${kind}${resultOf(run) === 'error' ? 'Error' : 'Failure'}`;
  return element(name, failureOf(run), element('stackTrace', {}, linesOf(run)));
}

/** Returns the runs of a case in order: of a gate with retries all of them. */
function runsOf(run: RunReport, { runs }: GateReport): [RunReport, ...RunReport[]] {
  const [first = run, ...others] = run.decides ? runs.filter(({ name }) => name === run.name) : [run];
  return [first, ...others];
}

/** As in Surefire, the first of several runs decides, unless a later one has passed. */
function caseResult(run: RunReport, report: GateReport): Result {
  const [first, ...others] = runsOf(run, report);
  return resultOf(others.length > 0 && run.verdict !== 'flaky' ? first : run);
}

function resultElements(run: RunReport, report: GateReport): string[] {
  const [first, ...others] = runsOf(run, report);
  const result = caseResult(run, report);
  const own = (of: RunReport) => (result === 'passed' ? [] : [element(result, failureOf(of), linesOf(of))]);
  if (others.length === 0) return own(run);
  if (run.verdict !== 'flaky') return [...own(first), ...others.map((other) => rerun('rerun', other))];
  // Some readers count every case with a `flakyFailure` as passed.
  const kind = result === 'passed' ? 'flaky' : 'rerun';
  return [...own(run), ...othersOf(run, report).map((other) => rerun(kind, other))];
}

function testcase(run: RunReport, report: GateReport): string {
  const text = xmlText(messageLines(run, othersOf(run, report)).join('\n'));
  const children = [...resultElements(run, report), element('system-out', {}, text)];
  const time = secondsText(elapsed(run, report));
  const attributes = { name: runTitle(run), classname: className(run), time };
  return element('testcase', attributes, `\n${children.map((line) => `      ${line}\n`).join('')}    `);
}

const runFacts = [
  'runId',
  'name',
  'project',
  'process',
  'tags',
  'state',
  'verdict',
  'action',
  'failed',
  'blocked',
  'appUrl',
  'attempts',
  'idempotencyKey',
  'reattached',
  'retry',
  'decides',
] as const;

/** The schema allows no properties in a test case, so the suite has them, with a number for each run. */
function properties(report: GateReport): string {
  const { result, exitCode, interruptedBy, cancellation } = report;
  const runs = report.runs.flatMap((run, index) =>
    runFacts.map((name) => [`run.${index + 1}.${name}`, run[name]] as const),
  );
  return [...Object.entries({ result, exitCode, interruptedBy, cancellation }), ...runs]
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `      ${element('property', { name, value: String(value) })}\n`)
    .join('');
}

function testsuite({ name, report }: Suite, facts: JunitFacts): string {
  const runs = decidingRuns(report);
  const tally = (result: Result) => runs.filter((run) => caseResult(run, report) === result).length;
  const attributes = {
    name,
    tests: runs.length,
    failures: tally('failure'),
    errors: tally('error'),
    skipped: tally('skipped'),
    time: secondsText(Math.max(0, ...runs.map((run) => elapsed(run, report)))),
    timestamp:
      facts.startedAt === undefined ? undefined : new Date(facts.startedAt).toISOString().slice(0, 19),
  };
  const cases = runs.map((run) => `    ${testcase(run, report)}\n`).join('');
  const inside = `\n    ${element('properties', {}, `\n${properties(report)}    `)}\n${cases}    ${element('system-out', {}, xmlText(headline(report)))}\n  `;
  return `  ${element('testsuite', attributes, inside)}\n`;
}

/**
 * Returns JUnit XML with a suite for each gate and a case for each run. The retries of a run are elements of its case. It is valid
 * by the schema of Jenkins' xUnit plugin (junit-10.xsd).
 */
export function junitReport(report: SuitesReport, facts: JunitFacts = {}): string {
  const all = suitesOf(report)
    .map((suite) => testsuite(suite, facts))
    .join('');
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n${all}</testsuites>\n`;
}
