import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { NetworkFault } from '../../src/errors.ts';
import {
  afterRead,
  broken,
  ended,
  errorOf,
  foreign,
  http,
  network,
  type Play,
  play,
  type Result,
  running,
  type Step,
} from './reads-play.ts';

const halfHourMs = 30 * 60_000;
const retryAfterMs = fc.option(fc.integer({ min: 0, max: 4_000_000 }), { nil: undefined });
const seconds = fc.option(fc.double({ min: 0.001, max: 7200, noNaN: true }), { nil: undefined });
const anyEnded = fc
  .tuple(fc.constantFrom('completed', 'cancelled'), fc.nat(2), fc.nat(2))
  .map(([state, failed, blocked]) => ended(state, failed, blocked));
const temporary = fc.oneof(
  fc.tuple(fc.constantFrom(408, 500, 502, 503, 504), retryAfterMs).map(([code, ms]) => http(code, ms)),
  fc.constantFrom<NetworkFault>('dns', 'refused', 'tls', 'connect', 'broken').map(network),
  fc.tuple(fc.constantFrom(302, 401, 403, 404), retryAfterMs).map(([code, ms]) => foreign(code, ms)),
  fc.constantFrom(broken('', true), broken('state')),
);
const final = fc.oneof(
  fc.constantFrom(401, 403, 404, 400, 409, 410).map((code) => http(code)),
  fc.constantFrom(broken('failed'), broken('blocked')),
);
const anyResult = fc.oneof(
  { weight: 12, arbitrary: fc.tuple(seconds, retryAfterMs).map(([s, ms]) => running(s, ms)) },
  { weight: 6, arbitrary: temporary },
  { weight: 3, arbitrary: retryAfterMs.map((ms) => http(429, ms)) },
  anyEnded,
  final,
);
const someRules = fc.record({
  intervalMs: fc.integer({ min: 1, max: 4_000_000 }),
  maxReads: fc.option(fc.integer({ min: 1, max: 20 })),
  deadline: fc.oneof(fc.integer({ min: 0, max: 20_000_000 }), fc.constant(Number.POSITIVE_INFINITY)),
  createdAt: fc.option(fc.integer({ min: -100_000, max: 0 })),
});
type Rules = typeof someRules extends fc.Arbitrary<infer T> ? T & Play : never;

function always(check: (step: Step, rules: Rules, random: number) => void): void {
  const reads = fc.array(anyResult, { minLength: 1, maxLength: 40 });
  const unit = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
  const randoms = fc.array(unit, { minLength: 40, maxLength: 40 });
  fc.assert(
    fc.property(reads, someRules, randoms, (results, rules, jitter) => {
      const steps = play(results, rules, (read) => jitter[read] ?? 0);
      for (const [index, step] of steps.entries()) check(step, rules, jitter[index] ?? 0);
    }),
    { numRuns: 500 },
  );
}

/** Checks every read after which the wait goes on. */
const whileWaiting: typeof always = (check) =>
  always((step, rules, random) => {
    if (step.run.outcome === null) check(step, rules, random);
  });

const isLimited = (result: Result) => 'why' in result && result.why === 'limit';
const isOutage = (result: Result) => 'why' in result && ['outage', 'address'].includes(result.why);
const leastAfter = (result: Result) => ('error' in result ? 1000 : 0);
const requestedBy = ({ retryAfterMs: requested }: Result) => requested ?? 0;

/** Returns the wait that the service and the settings request, before the random share and the stretch. */
const baseOf = ({ run }: Step, { intervalMs }: Rules) => run.paceMs ?? intervalMs;
const stretched = (step: Step, rules: Rules) => Math.min(baseOf(step, rules) * step.run.stretch, halfHourMs);

test('no wait is shorter than requested, and at most a tenth is added, or a half after a 429', () => {
  whileWaiting((step, rules) => {
    expect(step.waitMs).toBeGreaterThanOrEqual(requestedBy(step.result));
    if (isOutage(step.result)) return;
    const least = Math.max(baseOf(step, rules), requestedBy(step.result), leastAfter(step.result));
    expect(step.waitMs).toBeGreaterThanOrEqual(least);
    const most = Math.max(least, stretched(step, rules)) * (isLimited(step.result) ? 1.5 : 1.1);
    expect(step.waitMs).toBeLessThanOrEqual(Math.ceil(most));
  });
});

test('the wait after a failure is at least 1 s', () => {
  whileWaiting(({ waitMs, result }) => expect(waitMs).toBeGreaterThanOrEqual(leastAfter(result)));
});

test('the wait in an outage is random, up to the wait between polls', () => {
  whileWaiting((step, rules, random) => {
    if (!isOutage(step.result)) return;
    const between = Math.max(baseOf(step, rules), requestedBy(step.result), 1000, stretched(step, rules));
    const most = Math.min(between * 1.1, 500 * 2 ** (step.run.failures - 1));
    const longest = Math.max(requestedBy(step.result), 1000 + random * most);
    expect(step.waitMs).toBeLessThanOrEqual(Math.ceil(longest));
  });
});

test('a wait never exceeds the deadline, and is the same as without a deadline', () => {
  whileWaiting(({ before, result, run, now }, rules, random) => {
    expect(run.due).toBeLessThan(rules.deadline);
    expect(afterRead(before, result, { ...rules, deadline: Number.POSITIVE_INFINITY }, now, random)).toEqual(
      run,
    );
  });
});

test('every read counts, except those with a 429', () => {
  always(({ run, before, result }) => expect(run.reads - before.reads).toBe(isLimited(result) ? 0 : 1));
});

test('the last read is always followed by an outcome, never by another read', () => {
  always(({ run }, { maxReads }) => {
    if (maxReads === null) return;
    expect(run.reads).toBeLessThanOrEqual(maxReads);
    if (run.reads >= maxReads) expect(run.outcome).not.toBeNull();
  });
});

test('the verdict is timeout only if the last read succeeded and the run had not ended', () => {
  always(({ run: { outcome }, result }) => {
    if (outcome?.verdict !== 'timeout') return;
    expect('reading' in result && result.reading.kind).toBe('running');
    expect(outcome).toMatchObject({ limit: true, ended: false });
  });
});

test('the verdict is unobserved only if the last read failed, and its error is the cause', () => {
  always(({ run: { outcome }, result }) => {
    if (outcome?.verdict === 'unobserved') expect(outcome.error).toEqual(errorOf(result));
    else if (outcome !== null) expect(errorOf(result)).toBeNull();
  });
});

test('the verdict is passed only for a completed run with both counts 0', () => {
  always(({ run, result }) => {
    if (run.outcome?.verdict === 'passed')
      expect(result).toMatchObject({ reading: { state: 'completed', failed: 0, blocked: 0 } });
  });
});

test('the stretch grows by half on 429, shrinks by a tenth on success, and keeps the interval within 30 minutes', () => {
  always(({ before, run, result }, { intervalMs }) => {
    const most = Math.max(1, halfHourMs / intervalMs);
    if (isLimited(result)) expect(run.stretch).toBe(Math.min(before.stretch * 1.5, most));
    else if (errorOf(result) === null) expect(run.stretch).toBe(Math.max(1, before.stretch * 0.9));
    else expect(run.stretch).toBe(before.stretch);
  });
});

test('failures keep the last good status', () => {
  always(({ before, run, result }) => {
    if ('error' in result) expect([run.seen, run.paceMs]).toEqual([before.seen, before.paceMs]);
    expect(run.trouble).toEqual(errorOf(result));
  });
});
