import { readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import * as node from '../../src/webhook/node.ts';
import * as web from '../../src/webhook/web.ts';
import { type Answer, answerOf, table } from './table.ts';

const verifiers = {
  'node:crypto, verifySync': node.verifySync,
  'node:crypto, verify': node.verify,
  'WebCrypto, verify': web.verify,
};

const rows = table.flatMap(({ title, rows }) => rows.map((row) => ({ ...row, title })));

describe.each(Object.entries(verifiers))('%s', (_name, verify) => {
  test.each(rows)('$title: $name', async ({ options, answer }) => {
    const given = await answerOf(verify as never, options());
    if (typeof answer === 'string') expect(given).toBe(answer);
    else expect(given).toMatchObject(answer);
  });
});

test('every code that verify can give is in the table', () => {
  const codes = new Set(rows.map(({ answer }) => answer).filter((answer) => typeof answer === 'string'));
  expect([...codes].toSorted()).toEqual([
    ...['bad_option', 'body_not_raw', 'duplicate_header', 'malformed_signature', 'malformed_timestamp'],
    ...['mismatch', 'missing_header', 'no_secret', 'too_new', 'too_old'],
  ]);
});

function shown(answer: Answer): string {
  if (typeof answer === 'string') return `\`${answer}\``;
  return answer.secretIndex === 0 ? 'accepted' : `accepted, \`secretIndex\` ${answer.secretIndex}`;
}

function rendered(): string {
  const sections = table.map(({ title, rows }) => {
    const cells = rows.map(({ name, answer }) => [name, shown(answer)] as const);
    const widths = [title.length, 'Answer'.length].map((least, column) =>
      Math.max(least, ...cells.map((row) => row[column]?.length ?? 0)),
    );
    const line = (a: string, b: string, fill = ' ') =>
      `| ${a.padEnd(widths[0] ?? 0, fill)} | ${b.padEnd(widths[1] ?? 0, fill)} |`;
    return [line(title, 'Answer'), line('', '', '-'), ...cells.map(([a, b]) => line(a, b))].join('\n');
  });
  return `\n\n${sections.join('\n\n')}\n\n`;
}

// `npm run docs:webhooks` is this test with --update: it writes what it otherwise compares.
it('docs/webhooks.md shows the table as it is now; `npm run docs:webhooks` writes it', async () => {
  const file = new URL('../../docs/webhooks.md', import.meta.url);
  const page = readFileSync(file, 'utf8');
  const part = /(?<=<!-- table -->).*(?=<!-- end of table -->)/s;
  expect(page).toMatch(part);
  await expect(page.replace(part, () => rendered())).toMatchFileSnapshot('../../docs/webhooks.md');
});
