import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { renderTable, renderTsv } from '../../src/output/table.ts';
import { columnsOf } from '../../src/output/text.ts';
import { sanitize } from '../../src/sanitize.ts';

const gateHead = ['RUN', 'VERDICT', 'STATE', 'FAILED', 'BLOCKED', 'URL'];
const lines = (text: string) => text.replace(/\n$/, '').split('\n');

/** Returns the columns that a text takes on a terminal: East Asian wide characters and emoji take two. */
function shownWidth(text: string): number {
  const graphemes = [...new Intl.Segmenter().segment(text)].map(({ segment }) => segment);
  const wide =
    /^[\u1100-\u115f\u3000-\u303e\u3041-\u4dbf\u4e00-\ua4cf\uac00-\ud7a3\uff01-\uff60]|\p{Emoji_Presentation}/u;
  return graphemes.reduce((sum, one) => sum + (wide.test(one) ? 2 : 1), 0);
}

const widest = (text: string) => Math.max(...lines(text).map(shownWidth));

describe('a table on a terminal', () => {
  test('is aligned, with a head and without borders', async () => {
    const text = await renderTable(
      {
        head: ['ID', 'NAME'],
        rows: [
          ['1', 'checkout'],
          ['1000', 'x'],
        ],
      },
      80,
    );
    expect(lines(text)).toEqual(['ID    NAME', '1     checkout', '1000  x']);
    expect(text.endsWith('\n')).toBe(true);
  });

  test.each(['https://例え.example/テスト/結果', '本番環境-2026', 'é'.repeat(60), 'окружение'.repeat(8)])(
    'does not break %s, which is neither separated by spaces nor in a script without spaces only',
    async (word) => {
      const text = await renderTable({ head: ['NAME', 'N'], rows: [[word, '1']] }, 20);
      expect(lines(text)[1]).toBe(`${word}  1`);
    },
  );

  test('sanitizes text from the service', async () => {
    const text = await renderTable({ head: ['NAME'], rows: [['\x1b[31m##vso[x]\n::error::']] }, 80);
    expect(lines(text)[1]).toBe('\\u001b[31m# #vso[x]\\n::error::');
  });

  test('never begins a line with a CI command, wherever a long cell is wrapped', async () => {
    for (let before = 30; before < 50; before++) {
      const name = `${'n '.repeat(before)}::error:: ##vso[x] 日::warning::${'n '.repeat(before)}::error::`;
      for (const row of [
        [name, 'short'],
        ['', name],
      ]) {
        const text = await renderTable({ head: ['A', 'B'], rows: [row] }, 40);
        for (const line of lines(text)) expect(line.trimStart()).not.toMatch(/^::|^##/);
        expect(widest(text)).toBeLessThanOrEqual(40);
      }
    }
  });

  test('fits the terminal unless its longest words do not, and cuts nothing off', async () => {
    const cell = fc.oneof(
      fc.string({ maxLength: 200 }),
      fc.string({ unit: fc.constantFrom('a', ' ', ':', '日', 'é', '😀', '\n', '"', ','), maxLength: 200 }),
    );
    const table = fc
      .integer({ min: 1, max: 6 })
      .chain((width) =>
        fc
          .array(fc.array(cell, { minLength: width, maxLength: width }), { maxLength: 5 })
          .map((rows) => ({ head: gateHead.slice(0, width), rows })),
      );
    await fc.assert(
      fc.asyncProperty(table, fc.integer({ min: 40, max: 250 }), async (one, columns) => {
        const text = await renderTable(one, columns);
        const longest = (at: number) =>
          [one.head, ...one.rows].flatMap((row) => sanitize(row[at] ?? '').split(' ')).map(columnsOf);
        const words = one.head.reduce((sum, _, at) => sum + 2 + Math.max(...longest(at)) + 1, 0);
        expect(widest(text)).toBeLessThanOrEqual(Math.max(columns, words));
        for (const line of lines(text)) expect(line.trimStart()).not.toMatch(/^::/);
        const bare = (all: string) => all.replace(/\s/g, '').length;
        expect(bare(text)).toBe(bare([...one.head, ...one.rows.flat().map(sanitize)].join('')));
      }),
      { numRuns: 100 },
    );
  });
});

describe('tab-separated values', () => {
  test('have one line per row and no head', () => {
    expect(
      renderTsv({
        head: ['A', 'B'],
        rows: [
          ['1', 'x y'],
          ['2', ''],
          [null, '3'],
        ],
      }),
    ).toBe('1\tx y\n2\t\n\t3\n');
    expect(renderTsv({ head: ['A'], rows: [] })).toBe('');
  });

  test('have the lines and tabs of the table, whatever text the service sends', () => {
    const cell = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom('a\tb', 'a\nb', 'a\r\nb', '::error::', '\u2028'),
    );
    fc.assert(
      fc.property(fc.array(fc.tuple(cell, cell, cell)), (rows) => {
        const text = renderTsv({ head: ['A', 'B', 'C'], rows });
        const written = text.split('\n').slice(0, -1);
        expect(written).toHaveLength(rows.length);
        for (const line of written) {
          expect(line.split('\t')).toHaveLength(3);
          expect(line.trimStart()).not.toMatch(/^::/);
        }
      }),
    );
  });
});

describe('optional columns', () => {
  const table = {
    head: ['ID', 'NAME', 'STATUS', 'URL', 'MORE'],
    rows: [
      [
        'obs_0123456789ab',
        'A name that is longer than the others',
        'open',
        'https://example.test/a/b/c',
        'x',
      ],
    ],
    optional: 3,
  };

  test('are left out from the last one on if the terminal is narrow', async () => {
    const narrow = await renderTable(table, 60);
    expect(narrow).toContain('obs_0123456789ab');
    expect(narrow).toMatch(/ID\s+NAME\s+STATUS\n/);
    const wide = await renderTable(table, 200);
    expect(wide).toMatch(/ID\s+NAME\s+STATUS\s+URL\s+MORE/);
  });
});
