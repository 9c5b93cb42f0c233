import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Lineage, lineageChanged, parseStat } from '../../src/host/process-events.ts';

/** A line as Linux writes it. The fields after the group do not matter here. */
const line = (name: string, parent: number) =>
  `4711 (${name}) S ${parent} 4711 4711 0 -1 4194560 1234 0 0 0 5 2 0 0 20 0 11 0 8888 1 2 3\n`;

describe('parseStat', () => {
  test.each([
    ['node', 1],
    [') S 99 ', 5],
    ['a) R 1 (b', 42],
    ['', 0],
  ])('reads the name %j, the state, the parent %i and the group', (name, parent) => {
    expect(parseStat(line(name, parent))).toEqual({ name, state: 'S', parent, group: 4711 });
  });

  test('reads the fields whatever the name contains', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 15 }), fc.nat(), (name, parent) => {
        expect(parseStat(line(name, parent))).toEqual({ name, state: 'S', parent, group: 4711 });
      }),
    );
  });

  test.each(['', 'nonsense', '1 node S 2', '1 (node S 2 3', 'x (node) S 2 3'])(
    'returns null for %j',
    (text) => {
      expect(parseStat(text)).toBeNull();
    },
  );
});

describe('lineageChanged', () => {
  const rows: [string, Lineage, Lineage, boolean][] = [
    ['nothing changed, without a runner', { parent: 10, runner: null }, { parent: 10, runner: null }, false],
    ['nothing changed, with a runner', { parent: 10, runner: 9 }, { parent: 10, runner: 9 }, false],
    ['init became the parent', { parent: 10, runner: null }, { parent: 1, runner: null }, true],
    ['a subreaper became the parent', { parent: 10, runner: 9 }, { parent: 500, runner: null }, true],
    ['the runner above the shell ended', { parent: 10, runner: 9 }, { parent: 10, runner: null }, true],
    ['the shell has another node above it', { parent: 10, runner: 9 }, { parent: 10, runner: 1 }, true],
    ['a runner appeared', { parent: 10, runner: null }, { parent: 10, runner: 9 }, false],
  ];

  test.each(rows)('when %s (row %#)', (_name, before, now, changed) =>
    expect(lineageChanged(before, now)).toBe(changed),
  );
});
