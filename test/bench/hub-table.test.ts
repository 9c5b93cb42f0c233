import { expect, test } from 'vitest';
// @ts-expect-error a script, which has no types
import { hubTable, missed, summaryOf } from '../../bench/hub-table.mjs';

const request = (endpoint: string, at: number, status: number, path = '/api/runs') => ({
  ...{ endpoint, at, status, path },
});

test('429s of a storm are counted apart, and so are those of gates whose run was created before the fault', () => {
  const mock = {
    runs: [{ runId: 'run_a' }, { runId: 'run_b' }],
    requests: [
      request('run.trigger', 1000, 201),
      request('run.trigger', 3000, 429),
      request('run.trigger', 4000, 201),
      request('run.status', 5000, 429, '/api/runs/run_a'),
      request('run.status', 9000, 429, '/api/runs/run_a'),
      request('run.status', 9000, 429, '/api/runs/run_b'),
    ],
  };
  const ends = [
    { runEnd: 4000, endedAt: 10_000 },
    { runEnd: 9000, endedAt: 10_000 },
  ];
  const found = summaryOf(mock, ends, { faultAt: 2000, badFrom: 4000, badUntil: 8000 });
  expect(found).toMatchObject({ refused: 3, refusedInStorm: 1, refusedWithPlace: 1, requestsPerRun: 3 });
  expect(found.delay).toEqual({ mean: 3500, slow: 6000, slowest: 6000 });
  expect(found.sinceReadable).toEqual({ mean: 1500, slow: 2000, slowest: 2000 });
});

const delay = { mean: 1500, slow: 2000, slowest: 3000 };
const row = {
  ...{ name: 'no fault', gates: 20, aim: 2, right: 20, runs: 20, delay, sinceReadable: delay },
  ...{ requestsPerRun: 3.5, refused: 0, refusedWithPlace: 0, refusedInStorm: 0, tookMs: 90_000 },
};

test('a row says which aims it misses', () => {
  expect(missed(row)).toEqual([]);
  expect(missed({ ...row, right: 19, runs: 21, aim: 1, refusedWithPlace: 2 })).toHaveLength(4);
  expect(hubTable([row]).at(-1)).toContain('| 20 of 20 | – | 1.5 (2.0) | 3.0 |');
});
