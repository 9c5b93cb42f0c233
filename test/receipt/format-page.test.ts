import { describe, expect, it } from 'vitest';
import { gateStatement } from '../../src/receipt/gate-statement.ts';
import type { ResourceDescriptor } from '../../src/receipt/statement.ts';
import { gate, run } from '../ci/reports/samples.ts';
import { snippets } from '../docs/ci-job.ts';
import { gateReceipt } from './gate-receipt.ts';
import { commit, finishedAt, image, statement } from './table.ts';

const page = 'docs/project/receipt-format.md';

describe(page, () => {
  it('shows the statement that a gate writes', () => {
    const [{ annotations }] = statement.predicate.configuration;
    const { name, project, process, appUrl } = annotations.rungate.runs[0];
    const subject = { name, project, process, appUrl };
    const written = gateStatement(
      gate([run({ ...subject, verdict: 'passed', elapsedSeconds: 120, endedAt: finishedAt })]),
      {
        build: {
          commitSha: commit,
          repository: 'acme/shop',
          ref: 'main',
          environmentKey: 'staging',
          externalUrl: 'https://ci.example.com/builds/1',
        },
        subjects: [image],
        gate: 'web',
        apiUrl: 'https://service.example.com',
        policy: { passed: 'pass', failed: 'fail' },
      },
      String,
    );
    const [shown] = snippets(page).filter(({ language }) => language === 'json');
    // The order of the fields is that of the bytes that are signed.
    expect(JSON.stringify(JSON.parse(shown?.text ?? ''))).toBe(JSON.stringify(written));
  });
});

/** The fields that in-toto's specification names: Statement v1, test-result v0.1 and ResourceDescriptor, and those that it requires. */
const specified = {
  statement: { required: ['_type', 'subject', 'predicateType'], optional: ['predicate'] },
  predicate: {
    required: ['result', 'configuration'],
    optional: ['url', 'passedTests', 'warnedTests', 'failedTests'],
  },
  descriptor: {
    required: [],
    optional: ['name', 'uri', 'digest', 'content', 'downloadLocation', 'mediaType', 'annotations'],
  },
};

// Strict parsers, such as those of cosign and sigstore-go, refuse other fields of a statement.
it("in-toto's specification names every field of a gate's statement, which has each one that it requires", async () => {
  const expectFields = (
    object: object,
    { required, optional }: { required: string[]; optional: string[] },
  ) => {
    const names = Object.keys(object);
    expect([...required, ...optional]).toEqual(expect.arrayContaining(names));
    expect(names).toEqual(expect.arrayContaining(required));
  };
  const { statement } = await gateReceipt();
  const { subject, predicate } = statement;
  expectFields(statement, specified.statement);
  expectFields(predicate, specified.predicate);
  const descriptors: ResourceDescriptor[] = [...subject, ...predicate.configuration];
  expect(descriptors).toHaveLength(6);
  for (const descriptor of descriptors) {
    expectFields(descriptor, specified.descriptor);
    expect(descriptor.uri ?? descriptor.digest ?? descriptor.content).toBeTruthy();
  }
  // A name tells subjects and configurations apart.
  for (const list of [subject, predicate.configuration])
    expect(new Set(list.map(({ name }) => name)).size).toBe(list.length);
});
