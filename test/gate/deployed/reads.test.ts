import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { MismatchError, NetworkError } from '../../../src/errors.ts';
import {
  isConfirmed,
  isDeployed,
  judged,
  matchOf,
  neverDeployed,
  nothingSeen,
  type PageReading,
  type Phase,
  reported,
  type SeenBuild,
  withReading,
} from '../../../src/gate/deployed/reads.ts';
import { actions, resolvePolicy } from '../../../src/gate/policy.ts';
import type { RunOutcome } from '../../../src/gate/poll.ts';
import { sayInCommands } from '../../../src/options/spelling.ts';

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
const verdict = (own: RunOutcome, reads: string, on = {}) =>
  judged(own, seenIn(reads), resolvePolicy({ on }), expected).verdict;
const passed: RunOutcome = { verdict: 'passed' };

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

describe('the runs tested', () => {
  it.each([
    ['only the expected build', 'NNN|NN|NNN', true],
    ['only the expected build, which could not always be read', 'NNN|xNx|xxN', true],
    ['only the expected build, after another one before the run is created', 'OONNN|N|NNN', true],
    ['another build at the end', 'NNN|NO|OOO', false],
    ['another build in between', 'NNN|NON|NNN', false],
    ['another build after the run', 'NNN|NN|NNO', false],
    ['another build and nothing readable after it', 'NNN|O|xxx', false],
    ['an unknown build, since no read after them succeeded', 'NNN|NN|xxx', null],
    ['an unknown build, since there was no read after them', 'NNN|NN', null],
  ])('%s: %s', (_what, reads, matches) => {
    expect(matchOf(seenIn(reads))).toBe(matches);
  });

  it('only the expected build, if it was the only one that the reads since the run was created showed', () => {
    const part = (letters: string) => fc.stringMatching(new RegExp(`^[${letters}]{0,6}$`));
    fc.assert(
      fc.property(part('NOPx'), part('NOx'), part('NOx'), (before, during, after) => {
        const since = during + after;
        const matches = since.includes('O') ? false : after.includes('N') ? true : null;
        expect(matchOf(seenIn(`${before}|${during}|${after}`))).toBe(matches);
      }),
    );
  });
});

describe('the verdict', () => {
  it.each<[string, RunOutcome['verdict'], string, Record<string, string>, RunOutcome['verdict']]>([
    ['is that of the run, if the build never changed', 'passed', 'NNN|N|NNN', {}, 'passed'],
    ['is that of the run, even if it failed', 'failed', 'NNN|N|NNN', {}, 'failed'],
    ['is mismatch, whatever a passed run says', 'passed', 'NNN|O|NNN', {}, 'mismatch'],
    ['is mismatch, whatever a failed run says', 'failed', 'NNN|O|NNN', {}, 'mismatch'],
    ['is mismatch after a timeout', 'timeout', 'NNN|O|NNN', {}, 'mismatch'],
    ['is unobserved without a read after the run', 'passed', 'NNN|N|xxx', {}, 'unobserved'],
    ['is unobserved without a read after a failed run', 'failed', 'NNN|N|xxx', {}, 'unobserved'],
    ['is mismatch as a warning', 'passed', 'NNN|O|NNN', { mismatch: 'warn' }, 'mismatch'],
    ['stays failed, if a mismatch is only a warning', 'failed', 'NNN|O|NNN', { mismatch: 'warn' }, 'failed'],
    [
      'stays blocked, if unobserved is only a warning',
      'blocked',
      'NNN|N|xxx',
      { unobserved: 'warn' },
      'blocked',
    ],
    ['is mismatch, if a failed run may pass', 'failed', 'NNN|O|NNN', { failed: 'pass' }, 'mismatch'],
  ])('%s', (_what, own, reads, on, expectedVerdict) => {
    expect(verdict({ verdict: own } as RunOutcome, reads, on)).toBe(expectedVerdict);
  });

  it('stays unobserved with its own cause, if the run could not be observed', () => {
    const own: RunOutcome = { verdict: 'unobserved', cause: new NetworkError('dns', 'no address') };
    expect(judged(own, seenIn('NNN|O|NNN'), resolvePolicy(), expected)).toBe(own);
  });

  it('has the first other version, its time and the URL in its cause', () => {
    const outcome = judged(passed, seenIn('NNN|NPO|NNN'), resolvePolicy(), expected);
    expect(outcome.verdict === 'mismatch' && outcome.cause.message).toBe(
      'https://shop.example.test/version showed "other" during the run (2026-01-15T00:00:04.000Z), not "new"',
    );
  });

  it('keeps the limit at which the wait ended', () => {
    const own: RunOutcome = { verdict: 'timeout', limit: true };
    expect(judged(own, seenIn('NNN|O|NNN'), resolvePolicy(), expected)).toMatchObject({ limit: true });
  });

  it('never makes a gate pass that would fail', () => {
    const action = fc.constantFrom(...actions);
    const known = fc.constantFrom('warn' as const, 'fail' as const);
    const on = fc.record(
      {
        failed: action,
        blocked: action,
        cancelled: action,
        timeout: known,
        unobserved: known,
        mismatch: known,
      },
      { requiredKeys: [] },
    );
    const own = fc.constantFrom<RunOutcome>(
      ...(['passed', 'failed', 'blocked', 'cancelled', 'timeout'] as const).map((one) => ({ verdict: one })),
      { verdict: 'unobserved', cause: failure },
    );
    const order = ['pass', 'warn', 'fail'];
    fc.assert(
      fc.property(
        own,
        on,
        fc.stringMatching(/^N{3}\|[NOx]{0,4}\|[NOx]{0,4}$/),
        (outcome, overrides, reads) => {
          const policy = resolvePolicy({ on: overrides as never });
          const after = judged(outcome, seenIn(reads), policy, expected);
          expect(order.indexOf(policy[after.verdict])).toBeGreaterThanOrEqual(
            order.indexOf(policy[outcome.verdict]),
          );
          if (after.verdict === 'passed') expect(matchOf(seenIn(reads))).toBe(true);
        },
      ),
    );
  });
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

it('three reads after the run that show a version complete the check', () => {
  expect(isConfirmed(seenIn('NNN|NNN|NxN'))).toBe(false);
  expect(isConfirmed(seenIn('NNN|N|NxNO'))).toBe(true);
});

it.each([
  ['OOO', /did not show "new" in 3 reads in a row within 5 min: it showed "old"/, '--deployed-timeout'],
  ['NONON', /it showed "new", "old"/, '--deployed-timeout'],
  ['xxx', /^rungate waited 5 min, but the deployed build could not be read$/, '--deployed-url'],
])('a gate that waited in vain after the reads %s says what it saw', (reads, message, hint) => {
  const error = neverDeployed(seenIn(reads), expected, '5 min').word(sayInCommands);
  expect(error).toBeInstanceOf(MismatchError);
  expect(error.message).toMatch(message);
  expect(error.hint).toContain(hint);
});

it('suggests a pointer for a page in JSON', () => {
  const seen = withReading(nothingSeen, 'before', { text: '{"version":"new"}', matches: false }, 0);
  expect(neverDeployed(seen, expected, '5 min').word(sayInCommands).hint).toContain('--deployed-pointer');
});
