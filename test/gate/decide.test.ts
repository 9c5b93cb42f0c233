import { expect, it } from 'vitest';
import { decide, type Event } from '../../src/gate/decide.ts';
import type { GateState } from '../../src/gate/state.ts';
import { todo } from '../../src/gate/todo.ts';
import { freshPlan } from './checker/world.ts';

const created = (replayed: boolean | null): Event => ({
  ...({ type: 'created', gate: 'a', key: 'key-a', run: 'R' } as const),
  ...{ replayed, appUrl: null, limitedMs: 0 },
});

const play = (mode: Parameters<typeof freshPlan>[0], events: readonly Event[]) =>
  events.reduce((plan, event) => decide(plan, event, 1_000), freshPlan(mode, 1));

it('keeps why a stop came: the process that started rungate has ended', () => {
  const begun = play({ attempts: 1, keys: 'silent', depth: 0 }, [{ type: 'time' }]);
  const stopped = (orphaned?: boolean) =>
    decide(begun, { type: 'stop', by: 'SIGTERM', orphaned }, 2_000).stop;
  expect(stopped(true)).toEqual({ by: 'SIGTERM', at: 2_000, orphaned: true });
  expect(stopped()).toEqual({ by: 'SIGTERM', at: 2_000 });
});

const page = (build: 'first' | 'expected' | 'other') =>
  ({ type: 'page', build, error: null, confirms: [] }) as const;

it('counts the reads of the version page from the newest build that is expected', () => {
  const agreed = (...builds: Parameters<typeof page>[0][]) =>
    play({ attempts: 1, keys: 'silent', page: true, depth: 0 }, builds.map(page)).page?.agreed;
  expect([agreed('expected', 'expected'), agreed('expected', 'first'), agreed('expected', 'other')]).toEqual([
    2, 1, 0,
  ]);
});

it('takes another build for the fault of no gate if the only gate with a run has ended', () => {
  const plan = play({ attempts: 1, keys: 'silent', gates: 2, page: true, deployed: true, depth: 0 }, [
    { type: 'time' },
    { type: 'granted', gate: 'a' },
    { type: 'sending', gate: 'a' },
    created(false),
  ]);
  expect(decide(plan, page('other'), 1_000).page?.other).toBe(true);
  Object.assign(plan.gates.a as GateState, { end: { action: 'pass', at: 1_000 } });
  expect(decide(plan, page('other'), 1_000).page?.other).toBe(false);
});

it('says that a run was joined if the service does, and else by what the gate knows', () => {
  const reattached = (replayed: boolean | null) =>
    play({ attempts: 1, keys: 'reported', depth: 0 }, [
      { type: 'time' },
      { type: 'granted', gate: 'a' },
      { type: 'sending', gate: 'a' },
      created(replayed),
    ]).gates.a?.run?.reattached;
  expect([reattached(true), reattached(false), reattached(null)]).toEqual([true, false, false]);
});

it('says that a run is new if the service does, also if the first request with a random key was lost', () => {
  const plan = freshPlan({ attempts: 1, keys: 'reported', random: true, depth: 0 }, 1);
  if (plan.gates.a?.key) plan.gates.a.key.open = true;
  const sending = { type: 'sending', gate: 'a' } as const;
  const sent = [{ type: 'time' } as const, sending, sending, created(false)];
  const { gates } = sent.reduce((before, event) => decide(before, event, 1_000), plan);
  expect(gates.a?.run).toMatchObject({ replayed: false, reattached: false });
});

it('goes on with a request under way while the retry of another gate waits for the build', () => {
  const plan = play({ attempts: 1, keys: 'silent', gates: 2, page: true, deployed: true, depth: 0 }, [
    { type: 'time' },
    { type: 'granted', gate: 'b' },
    { type: 'sending', gate: 'b' },
  ]);
  if (plan.page !== null) plan.page.agreed = 0;
  expect(todo(plan).map(({ id }) => id)).toEqual(['create key-b', 'page', expect.stringMatching(/^timer/)]);
});

it('has no timer for a gate that has not begun, and none for the build of a gate whose request is sent', () => {
  const plan = play(
    { attempts: 1, keys: 'silent', gates: 2, needs: true, page: true, deployed: true, depth: 0 },
    [{ type: 'time' }, { type: 'granted', gate: 'a' }, { type: 'sending', gate: 'a' }],
  );
  // As after the retry of a third gate that was not deployed.
  Object.assign(plan.page ?? {}, { agreed: 0, until: -60_000 });
  expect(todo(plan).find(({ type }) => type === 'timer')).toMatchObject({ at: 33_000 });
});
