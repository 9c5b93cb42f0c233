import { expect, it } from 'vitest';
import { createProbes, type ProbeFacts } from '../../src/hub/probes.ts';

const failing = (code: string) => () => {
  throw Object.assign(new Error(code), { code });
};

it.each<[string, Partial<ProbeFacts>, unknown]>([
  ['ready without Redis', {}, { status: 'ok' }],
  ['ready while Redis works', { redis: () => ({ works: true, wasReached: true }) }, { status: 'ok' }],
  [
    'degraded while Redis does not work',
    { redis: () => ({ works: false, wasReached: true }) },
    { status: 'degraded', reasons: ['Redis does not work'] },
  ],
  [
    'not ready before it has reached Redis',
    { redis: () => ({ works: false, wasReached: false }) },
    { status: 'not ready', reasons: ['Redis was not reached since the start'] },
  ],
  [
    'not ready without a file descriptor',
    { openFolder: failing('EMFILE') },
    { status: 'not ready', reasons: ['no file descriptor is left'] },
  ],
  [
    'not ready if the machine has no file descriptor',
    { openFolder: failing('ENFILE') },
    { status: 'not ready', reasons: ['no file descriptor is left'] },
  ],
  [
    'ready where the file cannot be opened for another reason',
    { openFolder: failing('EACCES') },
    { status: 'ok' },
  ],
])('a hub is %s', (_what, facts, expected) => {
  const probes = createProbes({
    redis: () => null,
    openFolder() {},
    ...facts,
  });
  expect(probes.readiness()).toEqual(expected);
});

it('a hub that stops is not ready, and gives every reason', () => {
  const probes = createProbes({
    redis: () => ({ works: false, wasReached: false }),
    openFolder() {},
  });
  probes.leave();
  expect(probes.readiness()).toEqual({
    status: 'not ready',
    reasons: ['the hub is stopping', 'Redis was not reached since the start'],
  });
});
