import { type GateReport, type RunReport, shownAs } from '../../gate/report.ts';
import { describeOutcome, headline, messageLines, runTitle } from './wording.ts';

/** What XML 1.0 cannot hold, not even as a reference: controls, halves of pairs, two non-characters. */
const forbidden =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Also what a parser makes something else of (a carriage return) and what few show. */
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

/** Text as character data: comes back as it was, but for what XML cannot hold. */
function xmlText(text: string): string {
  return text.replace(forbidden, '').replace(special, reference);
}

/** The same in an attribute, where a parser makes spaces of tabs and line ends. */
function attributeText(text: string): string {
  return xmlText(text).replace(/[\t\n]/g, reference);
}

type Attributes = Readonly<Record<string, string | number | undefined>>;

/** An element in a line of its own: with text, with elements, or empty. `inside` is XML already. */
function element(name: string, attributes: Attributes, inside = ''): string {
  const given = Object.entries(attributes).filter(([, value]) => value !== undefined);
  const list = given.map(([key, value]) => ` ${key}="${attributeText(String(value))}"`).join('');
  return inside === '' ? `<${name}${list}/>` : `<${name}${list}>${inside}</${name}>`;
}

/** What is known of the runs beside the gate's result. */
export interface JunitFacts {
  /** When the wait began, in milliseconds since the epoch. */
  startedAt?: number | undefined;
}

type Result = 'passed' | 'failure' | 'error' | 'skipped';

/**
 * What the run did, whatever the gate makes of it; only of a cancelled one, which has tested nothing, the gate says
 * whether that is a failure. What is not known is an error.
 */
function resultOf(run: RunReport): Result {
  switch (run.verdict) {
    case 'passed':
      return 'passed';
    case 'failed':
    case 'blocked':
      return 'failure';
    case 'cancelled':
      return shownAs(run) === 'fail' ? 'failure' : 'skipped';
    case 'timeout':
    case 'unobserved':
    case null:
      return 'error';
  }
}

/** Seconds with three decimals, never with an exponent. */
function seconds(value: number): string {
  return Number.isFinite(value) && value > 0 && value < 1e15 ? value.toFixed(3) : '0.000';
}

/** What was run: `shop.checkout`; `rungate` where it is not known. */
function className({ project, process, tags }: RunReport): string {
  return project === null ? 'rungate' : `${project}.${process ?? tags?.join('+')}`;
}

function testcase(run: RunReport): string {
  const result = resultOf(run);
  const told = xmlText(messageLines(run).join('\n'));
  const reason = { type: run.verdict ?? 'stopped', message: describeOutcome(run) };
  const children = result === 'passed' ? [] : [element(result, reason, told)];
  children.push(element('system-out', {}, told));
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

/** The schema has no properties below a test case: they stand above, numbered as the cases are. */
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

/** JUnit XML, by the schema that Jenkins' xUnit plugin publishes (junit-10.xsd): a case per run. */
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
