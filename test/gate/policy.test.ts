import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UsageError } from '../../src/errors.ts';
import {
  type Action,
  actions,
  checkOverride,
  type EndedRun,
  type Overrides,
  type PolicySource,
  remainingOverrides,
  resolvePolicy,
  type Verdict,
  verdictOf,
  verdicts,
} from '../../src/gate/policy.ts';
import { readTexts } from '../../src/options/read.ts';

describe('the verdict on an ended run', () => {
  test.each<[EndedRun['state'], number, number, Verdict]>([
    ['completed', 0, 0, 'passed'],
    ['completed', 1, 0, 'failed'],
    ['completed', 0, 1, 'blocked'],
    ['cancelled', 0, 0, 'cancelled'],
    ['cancelled', 1, 0, 'failed'],
  ])('%s with %i failed and %i blocked is %s', (state, failed, blocked, verdict) => {
    expect(verdictOf({ state, failed, blocked })).toBe(verdict);
  });

  test('is passed only for a completed run with 0 failed and 0 blocked', () => {
    const state = fc.constantFrom('completed', 'cancelled');
    const count = fc.oneof(fc.constant(0), fc.nat());
    fc.assert(
      fc.property(fc.record({ state, failed: count, blocked: count }), (run) => {
        const green = run.state === 'completed' && run.failed === 0 && run.blocked === 0;
        expect(verdictOf(run) === 'passed').toBe(green);
      }),
    );
  });
});

const parsed = (text: string) => readTexts('on', [text]);

/** Parses overrides as the command line does. Returns null if one of them is refused. */
function read(texts: readonly string[]): Overrides | null {
  try {
    return texts.length === 0 ? {} : readTexts('on', texts);
  } catch (error) {
    if (error instanceof UsageError) return null;
    throw error;
  }
}

describe('the policy', () => {
  test.each<[Verdict, Action, Action]>([
    ['passed', 'pass', 'pass'],
    ['failed', 'fail', 'fail'],
    ['blocked', 'fail', 'fail'],
    ['cancelled', 'warn', 'fail'],
    ['timeout', 'fail', 'fail'],
    ['unobserved', 'fail', 'fail'],
    ['mismatch', 'fail', 'fail'],
    ['flaky', 'warn', 'warn'],
  ])('%s is %s by default and %s with --strict', (verdict, byDefault, strict) => {
    expect(resolvePolicy()[verdict]).toBe(byDefault);
    expect(resolvePolicy({ strict: false })[verdict]).toBe(byDefault);
    expect(resolvePolicy({ strict: true })[verdict]).toBe(strict);
  });

  test.each<Action>([...actions])('--on cancelled=%s overrides --strict', (action) => {
    expect(resolvePolicy({ strict: true, on: { cancelled: action } }).cancelled).toBe(action);
  });
});

describe('a weaker source', () => {
  const weaker: Overrides = { failed: 'warn', cancelled: 'pass' };
  test.each<[string, PolicySource, Overrides]>([
    ['does not change what a stronger one sets', { on: { failed: 'fail' } }, { cancelled: 'pass' }],
    ['does not change cancelled when a stronger one is strict', { strict: true }, { failed: 'warn' }],
    [
      'does not change cancelled when a stronger one says it is not strict',
      { strict: false },
      { failed: 'warn' },
    ],
  ])('%s', (_, stronger, rest) => expect(remainingOverrides(weaker, stronger)).toEqual(rest));
});

describe('--on', () => {
  test.each<[string, Verdict, Action]>([
    ['cancelled=pass', 'cancelled', 'pass'],
    ['timeout=warn', 'timeout', 'warn'],
    ['unobserved=warn', 'unobserved', 'warn'],
    [' blocked = warn ', 'blocked', 'warn'],
  ])('parses %j', (text, verdict, action) => expect(parsed(text)).toEqual({ [verdict]: action }));

  test.each([
    'timeout=pass',
    'passed=pass',
    'cancelled',
    'cancelled=',
    '=fail',
    '',
    'cancelled=fail=warn',
    'Cancelled=fail',
    'cancelled=ignore',
    'canceled=fail',
    'failed=fail,failed=warn',
    ',',
    '__proto__=fail',
  ])('refuses %j as a usage error', (text) => expect(() => parsed(text)).toThrow(UsageError));

  test.each([
    ['cancelled', /--on cancelled=fail/],
    ['cancelled=fail=warn', /--on cancelled=fail/],
  ])('suggests a replacement for %j', (text, hint) => {
    expect(() => parsed(text)).toThrow(expect.objectContaining({ hint: expect.stringMatching(hint) }));
  });

  test('names the actions, and quotes an empty verdict', () => {
    expect(() => parsed('cancelled=ignore')).toThrow('cancelled: expected one of pass, warn, fail');
    expect(() => parsed('=fail')).toThrow('unknown verdict ""');
  });

  test('accepts several of them, of which the last of a verdict counts', () => {
    expect(readTexts('on', ['failed=warn,blocked=warn', 'failed=fail'])).toEqual({
      failed: 'fail',
      blocked: 'warn',
    });
  });

  test.each([
    ['timeout', 'the outcome is unknown'],
    ['mismatch', 'another build was tested'],
  ])('suggests warn for %s', (verdict, meaning) => {
    expect(() => checkOverride(verdict, 'pass')).toThrow(
      expect.objectContaining({
        message: `${verdict} cannot pass: it means that ${meaning}`,
        hint: expect.stringContaining(`set ${verdict} to warn`),
      }),
    );
  });
});

describe('for any overrides', () => {
  const word = fc.oneof(fc.constantFrom<string>(...verdicts), fc.string());
  const text = fc.tuple(word, fc.constantFrom<string>(...actions, '')).map(([v, a]) => `${v}=${a}`);
  const settings = fc.record({ strict: fc.boolean(), texts: fc.array(text, { maxLength: 3 }) });

  test('an unknown result never passes, and a passed run always does', () => {
    fc.assert(
      fc.property(settings, ({ strict, texts }) => {
        const on = read(texts);
        if (on === null) return;
        const policy = resolvePolicy({ strict, on });
        expect(policy.timeout).not.toBe('pass');
        expect(policy.unobserved).not.toBe('pass');
        expect(policy.passed).toBe('pass');
        expect(Object.keys(policy).toSorted()).toEqual([...verdicts].toSorted());
      }),
    );
  });
});
