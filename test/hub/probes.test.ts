import { expect, it } from 'vitest';
import { type RedisState, readinessOf } from '../../src/hub/probes.ts';

const works = { works: true, wasReached: true };
const lost = { works: false, wasReached: true };
const unknown = { works: false, wasReached: false };

it.each<[string, boolean, RedisState | null, ...reasons: string[]]>([
  ['ok', false, null],
  ['ok', false, works],
  ['degraded', false, lost, 'Redis does not work'],
  ['not ready', false, unknown, 'Redis has not been reached since the start'],
  ['not ready', true, unknown, 'the hub is stopping', 'Redis has not been reached since the start'],
  ['not ready', true, lost, 'the hub is stopping', 'Redis does not work'],
])('a hub is %s (leaving: %s, Redis: %o)', (status, isLeaving, redis, ...reasons) => {
  expect(readinessOf(isLeaving, redis)).toEqual({
    status,
    ...(reasons.length > 0 && { reasons }),
  });
});
