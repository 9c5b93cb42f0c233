import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { durationParameters, type FaultKind } from '../../src/mock/faults/fault-kinds.ts';
import { deliveryFaultTexts, requestFaultTexts } from '../../src/mock/faults/fault-texts.ts';
import { faultNames } from '../../src/mock/faults/parse.ts';
import { cli } from '../cli/harness.ts';

type Row = readonly [kind: string, ...cells: string[]];

function tableOf(...rows: readonly Row[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[], fill = ' ') =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |\n`;
  const [head = [''] as const, ...others] = rows;
  const dashes = line(
    head.map(() => ''),
    '-',
  );
  return `\n\n${line(head)}${dashes}${others.map((row) => line(row)).join('')}\n`;
}

/** Returns a kind with its parameters. */
function named(kind: string, parameters: string[] = []): string {
  const duration = durationParameters[kind as FaultKind];
  const all = [...parameters, ...(duration === undefined ? [] : [`\`${duration}?\``])];
  return `\`${kind}\`${all.length === 0 ? '' : ` (${all.join(', ')})`}`;
}

const requests = tableOf(
  ['kind', 'the client gets', 'request takes effect'],
  ...Object.entries(requestFaultTexts).map(
    ([kind, { gets, takesEffect, parameters }]): Row => [
      named(kind, parameters === undefined ? [] : [parameters]),
      gets,
      takesEffect ? 'yes' : '',
    ],
  ),
);
const deliveries = tableOf(
  ['kind', 'the receiver gets'],
  ...Object.entries(deliveryFaultTexts).map(([kind, gets]): Row => [named(kind), gets]),
);

describe('the texts of the faults', () => {
  // `npm run docs:faults` runs this test with --update, which writes the tables.
  it('are the tables of docs/reference/mock.md (`npm run docs:faults` writes them)', async () => {
    const page = readFileSync(new URL('../../docs/reference/mock.md', import.meta.url), 'utf8')
      .replace(/(?<=<!-- faults of requests -->).*?(?=<!-- end -->)/s, () => requests)
      .replace(/(?<=<!-- faults of deliveries -->).*?(?=<!-- end -->)/s, () => deliveries);
    expect(page).toContain(requests);
    expect(page).toContain(deliveries);
    await expect(page).toMatchFileSnapshot('../../docs/reference/mock.md');
  });

  it.each(['serve', 'exec'])('are in the help of mock %s, one line of 80 columns each', async (name) => {
    const { out } = await cli(['mock', name, '--help']);
    const lines = out.split('\n');
    for (const kind of faultNames) {
      const line = lines.filter((one) => new RegExp(`^  ${kind}(\\[=duration\\])?  `).test(one));
      expect(line, kind).toHaveLength(1);
    }
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });
});
