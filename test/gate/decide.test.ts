import { expect, it } from 'vitest';
import { decide, type Event } from '../../src/gate/decide.ts';
import { todo } from '../../src/gate/todo.ts';
import { freshPlan } from './checker/world.ts';

const play = (mode: Parameters<typeof freshPlan>[0], events: readonly Event[]) =>
  events.reduce((plan, event) => decide(plan, event, 1_000), freshPlan(mode, 1));

it('keeps why a stop came: the process that started rungate has ended', () => {
  const begun = play({ attempts: 1, keys: 'silent', depth: 0 }, [{ type: 'time' }]);
  const stopped = (orphaned?: boolean) =>
    decide(begun, { type: 'stop', by: 'SIGTERM', orphaned }, 2_000).stop;
  expect(stopped(true)).toEqual({ by: 'SIGTERM', at: 2_000, orphaned: true });
  expect(stopped()).toEqual({ by: 'SIGTERM', at: 2_000 });
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
