import { describe, expect, it } from 'vitest';
import { buildFacts, type GateFacts, gateStatement } from '../../src/receipt/gate-statement.ts';
import { readStatement } from '../../src/receipt/statement-schema.ts';
import { gate, run } from '../ci/reports/samples.ts';
import { commit } from './table.ts';

const baseUrl = 'https://pr-7.example.com/shop';
const facts: GateFacts = {
  ...buildFacts({ environmentKey: 'pr-7', baseUrl }),
  commit,
  subjects: [],
  apiUrl: 'https://service.example.com',
  policy: {},
  startedAt: 0,
  finishedAt: 1000,
};
const written = (more: Partial<GateFacts> = {}) =>
  gateStatement(gate([run({ verdict: 'passed' })]), { ...facts, ...more });

describe('the base URL of a gate', () => {
  it('is in its statement once, beside the key of the environment', () => {
    const statement = written();
    expect(statement?.predicate.configuration[1]).toEqual({
      name: 'environment',
      uri: 'https://service.example.com/api/environments#pr-7',
      annotations: { key: 'pr-7', baseUrl },
    });
    expect(JSON.stringify(statement).split(baseUrl)).toHaveLength(2);
    expect(() => readStatement(JSON.parse(JSON.stringify(statement)))).not.toThrow();
  });

  it('leaves nothing in a statement without one', () => {
    expect(written({ baseUrl: null })?.predicate.configuration[1]?.annotations).toEqual({ key: 'pr-7' });
    expect(written({ baseUrl: null, environment: null })?.predicate.configuration).toHaveLength(2);
  });

  it('is in the statement even if the key of the environment is unknown', () => {
    expect(written({ environment: null })?.predicate.configuration[1]).toEqual({
      name: 'environment',
      uri: 'https://service.example.com/api/environments',
      annotations: { baseUrl },
    });
  });
});
