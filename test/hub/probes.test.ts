import { expect, it } from 'vitest';
import { type RedisState, readinessOf } from '../../src/hub/probes.ts';

const failing = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};

const fine = () => {};
const works = { works: true, wasReached: true };
const lost = { works: false, wasReached: true };
const unknown = { works: false, wasReached: false };

it.each<[string, boolean, RedisState | null, () => unknown, ...reasons: string[]]>([
  ['ok', false, null, fine],
  ['ok', false, works, fine],
  ['degraded', false, lost, fine, 'Redis does not work'],
  ['not ready', false, unknown, fine, 'Redis was not reached since the start'],
  ['not ready', false, null, failing('EMFILE'), 'no file descriptor is left'],
  ['not ready', false, null, failing('ENFILE'), 'no file descriptor is left'],
  // The folder cannot be opened for another reason.
  ['ok', false, null, failing('EACCES')],
  ['not ready', true, unknown, fine, 'the hub is stopping', 'Redis was not reached since the start'],
  ['not ready', true, lost, fine, 'the hub is stopping', 'Redis does not work'],
])('a hub is %s (leaving: %s, Redis: %o)', (status, isLeaving, redis, openFolder, ...reasons) => {
  expect(readinessOf(isLeaving, redis, openFolder)).toEqual({
    status,
    ...(reasons.length > 0 && { reasons }),
  });
});
