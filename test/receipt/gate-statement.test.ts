import { expect, it } from 'vitest';
import { type BuildSource, gateStatement } from '../../src/receipt/gate-statement.ts';
import { readStatement } from '../../src/receipt/statement-schema.ts';
import { gate, run } from '../ci/reports/samples.ts';
import { commit } from './table.ts';

const baseUrl = 'https://pr-7.example.com/shop';
const uri = 'https://service.example.com/api/environments';

it.each<[string, BuildSource, object[]]>([
  [
    'is beside the key of the environment',
    { environmentKey: 'pr-7', baseUrl },
    [{ name: 'environment', uri: `${uri}#pr-7`, annotations: { key: 'pr-7', baseUrl } }],
  ],
  [
    'may be unknown',
    { environmentKey: 'pr-7' },
    [{ name: 'environment', uri: `${uri}#pr-7`, annotations: { key: 'pr-7' } }],
  ],
  ['may be unknown, as the environment', {}, []],
])('the base URL of a gate %s', (_how, build, environment) => {
  const facts = {
    build: { ...build, commitSha: commit },
    subjects: [],
    apiUrl: 'https://service.example.com',
    policy: {},
  };
  const report = gate([run({ verdict: 'passed', endedAt: '2026-11-22T12:00:00.000Z' })]);
  const statement = gateStatement(report, facts, String);
  expect(statement?.predicate.configuration.slice(1, -1)).toEqual(environment);
  expect(() => readStatement(JSON.parse(JSON.stringify(statement)))).not.toThrow();
});
