import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Lineage, lineageChanged, parseStat, readLineage } from '../../src/host/lineage.ts';

/** As Linux writes it: what comes after the parent is of no interest here. */
const line = (name: string, parent: number) =>
  `4711 (${name}) S ${parent} 4711 4711 0 -1 4194560 1234 0 0 0 5 2 0 0 20 0 11 0 8888 1 2 3\n`;

describe('a line of /proc/<pid>/stat', () => {
  test.each([
    ['node', 1],
    ['npm exec rungat', 4000],
    ['a b  c', 7],
    ['(sd-pam)', 1234],
    [') S 99 ', 5],
    ['a) R 1 (b', 42],
    ['two\nlines', 3],
    ['', 0],
  ])('gives the name %j, the state, the parent %i and the group', (name, parent) => {
    expect(parseStat(line(name, parent))).toEqual({ name, state: 'S', parent, group: 4711 });
  });

  test('gives them whatever the name is', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 15 }), fc.nat(), (name, parent) => {
        expect(parseStat(line(name, parent))).toEqual({ name, state: 'S', parent, group: 4711 });
      }),
    );
  });

  test.each(['', 'nonsense', '1 node S 2', '1 (node S 2 3', 'x (node) S 2 3'])('%j is none', (text) => {
    expect(parseStat(text)).toBeNull();
  });
});

describe('the lineage has changed', () => {
  const rows: [string, Lineage, Lineage, boolean][] = [
    ['nothing changed, without a runner', { parent: 10, runner: null }, { parent: 10, runner: null }, false],
    ['nothing changed, with a runner', { parent: 10, runner: 9 }, { parent: 10, runner: 9 }, false],
    ['we were given to init', { parent: 10, runner: null }, { parent: 1, runner: null }, true],
    ['we were given to a subreaper', { parent: 10, runner: 9 }, { parent: 500, runner: null }, true],
    ['the runner above our shell ended', { parent: 10, runner: 9 }, { parent: 10, runner: null }, true],
    ['our shell was given to another node', { parent: 10, runner: 9 }, { parent: 10, runner: 1 }, true],
    ['a runner shows up that was not there', { parent: 10, runner: null }, { parent: 10, runner: 9 }, false],
  ];

  test.each(rows)('when %s: %#', (_name, before, now, changed) =>
    expect(lineageChanged(before, now)).toBe(changed),
  );
});

test('what is above us can be looked up, and does not change by itself', () => {
  const before = readLineage(process.ppid);
  expect(before.parent).toBe(process.ppid);
  expect(lineageChanged(before, readLineage(process.ppid))).toBe(false);
});

test('a parent that is gone is no runner', () => {
  expect(readLineage(2 ** 30)).toEqual({ parent: 2 ** 30, runner: null });
});
