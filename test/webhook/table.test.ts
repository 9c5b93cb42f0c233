import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import * as node from '../../src/webhook/node.ts';
import * as web from '../../src/webhook/web.ts';
import { type Expected, outcomeOf, table } from './table.ts';

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

function format(expected: Expected): string {
  if (typeof expected === 'string') return `\`${expected}\``;
  return expected.secretIndex === 0 ? 'accepted' : `accepted, \`secretIndex\` ${expected.secretIndex}`;
}

function rendered(): string {
  const sections = table.map(({ title, rows }) => {
    const cells = rows.map(({ name, expected }) => [name, format(expected)] as const);
    const widths = [title.length, 'Result'.length].map((headingWidth, column) =>
      Math.max(headingWidth, ...cells.map((row) => row[column]?.length ?? 0)),
    );
    const line = (a: string, b: string, fill = ' ') =>
      `| ${a.padEnd(widths[0] ?? 0, fill)} | ${b.padEnd(widths[1] ?? 0, fill)} |`;
    return [line(title, 'Result'), line('', '', '-'), ...cells.map(([a, b]) => line(a, b))].join('\n');
  });
  return `\n\n${sections.join('\n\n')}\n\n`;
}

// `npm run docs:webhooks` runs this test with --update, which writes the table.
it('docs/project/webhook-vectors.md has the current table (`npm run docs:webhooks` writes it)', async () => {
  const file = new URL('../../docs/project/webhook-vectors.md', import.meta.url);
  const page = readFileSync(file, 'utf8');
  const part = /(?<=<!-- table -->).*(?=<!-- end of table -->)/s;
  expect(page).toMatch(part);
  await expect(page.replace(part, () => rendered())).toMatchFileSnapshot(
    '../../docs/project/webhook-vectors.md',
  );
});
