import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MismatchError, NetworkError } from '../../../src/errors.ts';
import {
  buildProblem,
  isDeployed,
  neverDeployed,
  nothingSeen,
  type PageReading,
  type Phase,
  reported,
  type SeenBuild,
  withReading,
} from '../../../src/gate/deployed/reads.ts';
import { nameInCommands } from '../../../src/options/spelling.ts';

const failure = new NetworkError('broken', 'the deployed build could not be read');
const readings: Record<string, PageReading> = {
  // The expected build, two others, and a failed read.
  N: { text: 'new', matches: true },
  O: { text: 'old', matches: false },
  P: { text: 'other', matches: false },
  x: { error: failure },
};

/** Returns what the reads have shown: `ONNN|NN|NNN` has those before the run is created, during the run and after it. */
function seenIn(reads: string): SeenBuild {
  let [seen, at]: [SeenBuild, number] = [nothingSeen, Date.UTC(2026, 0, 15)];
  const phases: Phase[] = ['before', 'during', 'after'];
  reads.split('|').forEach((part, index) => {
    for (const read of part) {
      seen = withReading(seen, phases[index] ?? 'after', readings[read] as PageReading, at);
      at += 1000;
    }
  });
  return seen;
}

const expected = { page: 'https://shop.example.test/version', versions: ['new'] };
describe('a build is deployed', () => {
  it.each(['NNN', 'ONNN', 'xNNN', 'NNONNN', 'NxNNN', 'NNNN'])('after the reads %s', (reads) => {
    expect(isDeployed(seenIn(reads))).toBe(true);
  });

  it.each(['', 'N', 'NN', 'OOO', 'xxx', 'NNO', 'NONONO', 'NNxNN', 'NNNO'])(
    'not after the reads "%s"',
    (reads) => {
      expect(isDeployed(seenIn(reads))).toBe(false);
    },
  );
});

it('another build counts in any read since the run was created, and in none before', () => {
  const part = (letters: string) => fc.stringMatching(new RegExp(`^[${letters}]{0,6}$`));
  fc.assert(
    fc.property(part('NOPx'), part('NOx'), part('NOx'), (before, during, after) => {
      const { other } = seenIn(`${before}|${during}|${after}`);
      expect(other?.text ?? null).toBe((during + after).includes('O') ? 'old' : null);
    }),
  );
});

it('a mismatch names the first other version, its time and the URL', () => {
  expect(buildProblem(seenIn('NNN|NPO|NNN'), expected).message).toBe(
    'https://shop.example.test/version showed "other" during the run (2026-01-15T00:00:04.000Z), not "new"',
  );
});

describe('the reads of the version page', () => {
  const short = (reads: string) =>
    reported(seenIn(reads)).map(({ at, phase, text }) => `${at.slice(17, 19)} ${phase} ${text}`);

  it('are the first, every change and the last', () => {
    expect(short('OOONNN|NNNO|NNN')).toEqual([
      '00 before old',
      '03 before new',
      '09 during old',
      '10 after new',
      '12 after new',
    ]);
  });

  it('have the time, the error of a failed read, and whether the version was the expected one', () => {
    expect(reported(seenIn('xN'))).toEqual([
      { at: '2026-01-15T00:00:00.000Z', phase: 'before', text: null, matches: false, error: failure.message },
      { at: '2026-01-15T00:00:01.000Z', phase: 'before', text: 'new', matches: true, error: null },
    ]);
  });

  it('are none before the first read', () => expect(reported(nothingSeen)).toEqual([]));
});

it.each([
  ['OOO', /did not show "new" in 3 reads in a row within 5 min: it showed "old"/, '--deployed-timeout'],
  ['NONON', /it showed "new", "old"/, '--deployed-timeout'],
  ['xxx', /^rungate waited 5 min, but the deployed build could not be read$/, '--deployed-url'],
])('a gate that waited in vain after the reads %s says what it saw', (reads, message, hint) => {
  const error = neverDeployed(seenIn(reads), expected, '5 min', nameInCommands);
  expect(error).toBeInstanceOf(MismatchError);
  expect(error.message).toMatch(message);
  expect(error.hint).toContain(hint);
});

it('suggests a pointer for a page in JSON', () => {
  const seen = withReading(nothingSeen, 'before', { text: '{"version":"new"}', matches: false }, 0);
  expect(neverDeployed(seen, expected, '5 min', nameInCommands).hint).toContain('--deployed-pointer');
});
