import { describe, expect, it } from 'vitest';
import { NetworkError } from '../../src/errors.ts';
import { decide, type Event } from '../../src/gate/decide.ts';
import type { GateState, PlanState } from '../../src/gate/state.ts';
import { freshPlan, timeout } from './checker/world.ts';
import { ended, failedWith, http, type Result, running } from './reads-play.ts';

const cut = failedWith(new NetworkError('deadline', 'deadline'), true);

/** Returns a gate that waits for a run of another command until 30 s. */
function waiting(hub = false): PlanState {
  const plan = freshPlan({ attempts: 1, keys: 'reported', existing: true, hub, depth: 0 }, 1);
  return decide(plan, { type: 'time' }, 0);
}

const eventOf = (result: Result): Event =>
  'reading' in result
    ? { type: 'read', gate: 'a', run: 'R-old', random: 0, ...result }
    : { type: 'read-failed', gate: 'a', run: 'R-old', random: 0, ...result };

const read = (plan: PlanState, result: Result, now: number) => decide(plan, eventOf(result), now);
const gateOf = (plan: PlanState) => plan.gates.a as GateState;

describe('a read that the deadline cuts', () => {
  it.each<[string, Result[], object]>([
    ['a timeout after a good read', [running()], { verdict: 'timeout', error: null }],
    ['unobserved after a failed one', [http(503)], { verdict: 'unobserved', error: { status: 503 } }],
    ['unobserved if it was the only one', [], { verdict: 'unobserved', error: 'unread' }],
  ])('is %s', (_name, earlier, outcome) => {
    for (const now of [timeout, timeout + 999]) {
      const plan = earlier.reduce((before, result) => read(before, result, 15_000), waiting());
      expect(gateOf(read(plan, cut, now)).run?.outcome).toMatchObject({ ...outcome, limit: true });
    }
  });

  it('is repeated once, for 10 s at most, if the computer slept past the deadline', () => {
    const slept = read(read(waiting(), running(), 15_000), cut, timeout + 1000);
    expect(gateOf(slept)).toMatchObject({ lastReadBy: timeout + 11_000, run: { outcome: null }, end: null });
    expect(gateOf(decide(slept, { type: 'time' }, timeout + 10_999)).end).toBeNull();
    const last = read(slept, cut, timeout + 11_000);
    expect(gateOf(last).end).toMatchObject({ verdict: 'timeout' });
  });
});

describe('the last read after a sleep', () => {
  it.each<[string, Result, string]>([
    ['a run in progress', running(1), 'timeout'],
    ['a run that has ended', ended('completed'), 'passed'],
    ['a 503', http(503), 'unobserved'],
    ['a 429', http(429), 'unobserved'],
    ['a 403 with Retry-After', http(403, 1), 'unobserved'],
  ])('ends the wait after %s, with or without a hub', (_name, result, verdict) => {
    for (const hub of [true, false]) {
      const slept = decide(waiting(hub), { type: 'time' }, 50_000);
      expect(gateOf(slept)).toMatchObject({ lastReadBy: 60_000, end: null });
      expect(gateOf(read(slept, result, 50_001)).end).toMatchObject({ verdict });
    }
  });
});
