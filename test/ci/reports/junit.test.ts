import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes';
import { describe, expect, it, test } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { junitReport } from '../../../src/ci/reports/junit.ts';
import { runTitle } from '../../../src/ci/reports/wording.ts';
import { decidingRuns } from '../../../src/gate/report.ts';
import type { GateReport, RunReport } from '../../../src/gate/result-types.ts';
import { everything, gate, hostileGate, hostileSuites, retried, run, samples } from './samples.ts';

const schema = readFileSync(new URL('../../../fixtures/reports/junit-10.xsd', import.meta.url), 'utf8');

interface Node {
  name: string;
  attributes: Record<string, string>;
  children: Node[];
  text: string;
}

/** Reads XML with a parser that accepts only well-formed XML 1.0. */
function read(xml: string): Node {
  const parser = new SaxesParser({ xmlns: true });
  const root: Node = { name: '', attributes: {}, children: [], text: '' };
  const path = [root];
  parser.on('error', (error) => {
    throw error;
  });
  parser.on('opentag', (tag: SaxesTagNS) => {
    const attributes = Object.values(tag.attributes) as SaxesAttributeNS[];
    const node: Node = {
      name: tag.name,
      attributes: Object.fromEntries(attributes.map(({ name, value }) => [name, value])),
      children: [],
      text: '',
    };
    path.at(-1)?.children.push(node);
    path.push(node);
  });
  parser.on('text', (text) => {
    const node = path.at(-1);
    if (node !== undefined) node.text += text;
  });
  parser.on('closetag', () => void path.pop());
  parser.write(xml).close();
  return root.children[0] ?? root;
}

const suiteOf = (xml: string) => read(xml).children[0] as Node;
const casesOf = (xml: string) => suiteOf(xml).children.filter((node) => node.name === 'testcase');
const outcomeOf = (one: RunReport) => casesOf(junitReport(gate([one])))[0]?.children.map((node) => node.name);

/** Returns the errors that libxml2 finds, as `xmllint --schema` does. */
async function problems(documents: readonly string[]): Promise<string[]> {
  const xml = documents.map((contents, index) => ({ fileName: `report-${index}.xml`, contents }));
  const result = await validateXML({ xml, schema: [{ fileName: 'junit-10.xsd', contents: schema }] });
  return result.errors.map((error) => error.rawMessage);
}

/** Returns the characters of a text that XML can contain. */
const inXml = (text: string) =>
  [...text]
    .filter((char) => /^[\t\n\r\u{20}-\u{d7ff}\u{e000}-\u{fffd}\u{10000}-\u{10ffff}]$/u.test(char))
    .join('');

describe('JUnit XML', () => {
  it('has case names that stay the same from build to build, and the run id as a property', () => {
    const cases = (one: RunReport) => casesOf(junitReport(gate([one]))).map(({ attributes }) => attributes);
    const builds = ['run_1', 'run_2', null].map((runId) => cases({ ...samples.named, runId }));
    for (const [only] of builds)
      expect(only).toMatchObject({ name: 'shop / checkout', classname: 'shop.checkout' });
    expect(cases(samples.tagged)).toMatchObject([{ name: 'shop / smoke, web', classname: 'shop.smoke+web' }]);
    expect(cases(samples.failed)).toMatchObject([{ name: 'run_2', classname: 'rungate' }]);
    const xml = junitReport(gate([samples.named, samples.tagged]));
    const properties = suiteOf(xml).children[0]?.children.map(({ attributes }) => attributes) ?? [];
    const values = Object.fromEntries(properties.map(({ name, value }) => [name, value]));
    expect(values).toMatchObject({
      'run.1.runId': 'run_8',
      'run.1.name': 'shop / checkout',
      'run.1.project': 'shop',
      'run.1.process': 'checkout',
      'run.2.runId': 'run_9',
      'run.2.tags': 'smoke,web',
    });
  });

  it.each([
    ['passed', ['system-out'], samples.passed],
    ['failed', ['failure', 'system-out'], samples.failed],
    ['failed but may pass', ['failure', 'system-out'], run({ ...samples.failed, action: 'warn' })],
    ['was blocked', ['failure', 'system-out'], samples.blocked],
    ['was cancelled and may pass', ['skipped', 'system-out'], samples.cancelled],
    ['was cancelled and fails the gate', ['failure', 'system-out'], samples.cancelledStrict],
    ['timed out', ['error', 'system-out'], samples.timeout],
    ['could not be observed', ['error', 'system-out'], samples.unobserved],
    ['tested another build', ['error', 'system-out'], samples.mismatch],
    ['had not ended when rungate was stopped', ['error', 'system-out'], samples.stopped],
    ['has no id', ['error', 'system-out'], samples.lost],
    ['never began', ['skipped', 'system-out'], samples.skipped],
  ])('for a run that %s, has a case with %j', (_what, names, one) => {
    expect(outcomeOf(one)).toEqual(names);
  });

  it('is valid by the schema of the Jenkins plugin, which rejects another document', async () => {
    const reports = Object.values(samples).map((one) => junitReport(gate([one]), { startedAt: 0 }));
    expect(await problems([...reports, junitReport(everything), junitReport(gate([]))])).toEqual([]);
    expect(await problems(['<testsuites><testsuite name="x"/></testsuites>'])).not.toEqual([]);
  });

  test('is read back exactly for hostile texts, and nothing else with it', () => {
    fc.assert(
      fc.property(hostileGate, (report) => {
        const suite = suiteOf(junitReport(report));
        expect(suite.children.map((node) => node.name)).toEqual([
          'properties',
          ...decidingRuns(report).map(() => 'testcase'),
          'system-out',
        ]);
        const properties = suite.children[0]?.children.map(({ attributes }) => [
          attributes.name,
          attributes.value,
        ]);
        const values = Object.fromEntries(properties ?? []);
        expect(properties).toHaveLength(Object.keys(values).length);
        report.runs.forEach((one, index) => {
          for (const name of ['runId', 'name', 'project', 'state', 'appUrl', 'idempotencyKey'] as const) {
            const value = one[name];
            expect(values[`run.${index + 1}.${name}`]).toBe(value === null ? undefined : inXml(value));
          }
        });
        decidingRuns(report).forEach((one, index) => {
          expect(suite.children[index + 1]?.attributes.name).toBe(inXml(runTitle(one)));
        });
      }),
      { numRuns: 100 },
    );
  });
});

describe('the case of a gate with retries', () => {
  const only = (report: GateReport) => casesOf(junitReport(report))[0] as Node;
  const elements = (report: GateReport) =>
    only(report).children.map(({ name, attributes: { type } }) => [name, type].join(' ').trim());
  const counts = ({ attributes: { tests, failures, errors, skipped } }: Node) => [
    tests,
    failures,
    errors,
    skipped,
  ];

  it.each([
    ['passes with a flakyFailure, if a retry passed', retried.flaky, ['flakyFailure failed'], 0],
    [
      'fails without a flakyFailure, which some readers count as passed, if flaky fails the gate',
      retried.flakyFails,
      ['failure flaky', 'rerunFailure failed'],
      1,
    ],
    [
      'fails with a rerunFailure for each failed retry',
      retried.failed,
      ['failure failed', 'rerunFailure failed'],
      1,
    ],
    [
      'has a rerunError for a retry without a verdict',
      retried.timedOut,
      ['failure failed', 'rerunError timeout'],
      1,
    ],
  ])('%s', (_name, report, children, failures) => {
    expect(elements(report)).toEqual([...children, 'system-out']);
    expect(counts(suiteOf(junitReport(report)))).toEqual(['1', String(failures), '0', '0']);
  });

  it('is valid by the schema', async () => {
    expect(await problems(Object.values(retried).map((report) => junitReport(report)))).toEqual([]);
  });
});

describe('the suites of several gates', () => {
  it('have the names of the gates, and only the cases of their runs', async () => {
    const all = gate([samples.failed, ...retried.flaky.runs]);
    const suites = [
      { name: 'api', report: gate([samples.failed]) },
      { name: 'web', report: retried.flaky },
    ];
    const xml = junitReport({ ...all, suites });
    const found = read(xml).children.map(({ attributes: { name, tests, failures } }) => [
      name,
      tests,
      failures,
    ]);
    expect(found).toEqual([
      ['api', '1', '1'],
      ['web', '1', '0'],
    ]);
    expect(await problems([xml])).toEqual([]);
  });

  test('are read back exactly for hostile names and texts, and nothing else with them', async () => {
    const reports = fc.sample(hostileSuites, 100).map((report) => ({ report, xml: junitReport(report) }));
    for (const { report, xml } of reports) {
      const found = read(xml).children.map(({ attributes: { name }, children }) => [name, children.length]);
      expect(found).toEqual(
        report.suites?.map((one) => [inXml(one.name), decidingRuns(one.report).length + 2]),
      );
    }
    expect(await problems(reports.map(({ xml }) => xml))).toEqual([]);
  });
});
