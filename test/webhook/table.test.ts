import { describe, expect, test } from 'vitest';
import * as node from '../../src/webhook/node.ts';
import * as web from '../../src/webhook/web.ts';
import { outcomeOf, table } from './table.ts';

const verifiers = {
  'node:crypto, verifySync': node.verifySync,
  'node:crypto, verify': node.verify,
  'WebCrypto, verify': web.verify,
};

const rows = table.flatMap(({ title, rows }) => rows.map((row) => ({ ...row, title })));

describe.each(Object.entries(verifiers))('%s', (_name, verify) => {
  test.each(rows)('gives the expected result for $title: $name', async ({ options, expected }) => {
    const outcome = await outcomeOf(verify as never, options());
    if (typeof expected === 'string') expect(outcome).toBe(expected);
    else expect(outcome).toMatchObject(expected);
  });
});

test('the table contains every code that verify can give', () => {
  const codes = new Set(rows.map(({ expected }) => expected).filter((code) => typeof code === 'string'));
  expect([...codes].toSorted()).toEqual([
    ...['bad_option', 'body_not_raw', 'duplicate_header', 'malformed_signature', 'malformed_timestamp'],
    ...['mismatch', 'missing_header', 'no_secret', 'too_new', 'too_old'],
  ]);
});
