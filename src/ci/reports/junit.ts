import { type GateReport, isSkipped, type RunReport, shownAs, verdictText } from '../../gate/report.ts';
import { describeOutcome, headline, messageLines, runTitle } from './wording.ts';

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

/** Returns an element in one line. `inside` is XML. */
function element(name: string, attributes: Attributes, inside = ''): string {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const list = given.map(([key, value]) => ` ${key}="${attributeText(String(value))}"`).join('');
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
      return 'passed';
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
function seconds(value: number): string {
  return Number.isFinite(value) && value > 0 && value < 1e15 ? value.toFixed(3) : '0.000';
}

/** Returns the project with the process or tags, as in `shop.checkout`; `rungate` if they are unknown. */
function className({ project, process, tags }: RunReport): string {
  return project === null ? 'rungate' : `${project}.${process ?? tags?.join('+')}`;
}

function testcase(run: RunReport): string {
  const result = resultOf(run);
  const text = xmlText(messageLines(run).join('\n'));
  const reason = { type: verdictText(run), message: describeOutcome(run) };
  const children = result === 'passed' ? [] : [element(result, reason, text)];
  children.push(element('system-out', {}, text));
  const attributes = { name: runTitle(run), classname: className(run), time: seconds(run.elapsedSeconds) };
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
  'gate',
  'failed',
  'blocked',
  'appUrl',
  'attempts',
  'idempotencyKey',
  'reattached',
] as const;

/** Returns the properties of all runs. The schema allows none in a test case, so the suite has them, numbered like the cases. */
function properties(report: GateReport): string {
  const { gate, exitCode, interruptedBy, cancellation } = report;
  const runs = report.runs.flatMap((run, index) =>
    runFacts.map((name) => [`run.${index + 1}.${name}`, run[name]] as const),
  );
  return [...Object.entries({ gate, exitCode, interruptedBy, cancellation }), ...runs]
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => `      ${element('property', { name, value: String(value) })}\n`)
    .join('');
}

/** Returns JUnit XML with a case per run. It is valid by the schema of Jenkins' xUnit plugin (junit-10.xsd). */
export function junitReport(report: GateReport, facts: JunitFacts = {}): string {
  const { runs } = report;
  const tally = (result: Result) => runs.filter((run) => resultOf(run) === result).length;
  const attributes = {
    name: 'rungate',
    tests: runs.length,
    failures: tally('failure'),
    errors: tally('error'),
    skipped: tally('skipped'),
    time: seconds(Math.max(0, ...runs.map((run) => run.elapsedSeconds))),
    timestamp:
      facts.startedAt === undefined ? undefined : new Date(facts.startedAt).toISOString().slice(0, 19),
  };
  const cases = runs.map((run) => `    ${testcase(run)}\n`).join('');
  const suite = `\n    ${element('properties', {}, `\n${properties(report)}    `)}\n${cases}    ${element('system-out', {}, xmlText(headline(report)))}\n  `;
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites>\n  ${element('testsuite', attributes, suite)}\n</testsuites>\n`;
}
