import { afterEach, describe, expect, it } from 'vitest';
import type { Fault } from '../../../src/mock/server.ts';
import { fixtures } from '../../ci/provider-fixtures.ts';
import { asked, type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
afterEach(() => on.close());

const gate = [...trigger, '--wait'] as const;
const creates = () => asked(on.mock).filter((endpoint) => endpoint === 'run.trigger');

describe('a redirect of the request that creates the run', () => {
  const redirect = (status: number, location: string): Fault => ({
    kind: 'status',
    ...{ status, headers: { location }, endpoint: 'run.trigger', times: 20 },
  });

  it.each([
    [302, '/api/ci/runs/run_1'],
    [303, '/api/ci/runs/run_1'],
    [303, 'https://elsewhere.example/runs/run_1'],
  ])('with %i to %s may lead to a run, whose key the error names', async (status, location) => {
    on = await stage();
    on.mock.faults.add(redirect(status, location));
    const { code, err } = await on.rungate(...gate, '--idempotency-key', 'mine');
    expect([code, creates().length]).toEqual([5, 1]);
    expect(err).toContain('a run may have been created with the idempotency key mine; ');
  });
});

describe('without Idempotency-Replayed, the first line says', () => {
  const silent: Fault = {
    kind: 'patch',
    remove: ['idempotency-replayed'],
    endpoint: 'run.trigger',
    times: 9,
  };
  const started = async (env: Record<string, string>, ...flags: string[]) => {
    on = await stage({ outcome: 'passed', duration: 60_000 });
    on.mock.faults.add(silent);
    const { err, out } = await on.with({ env })(...gate, '--json', ...flags);
    return [/^(.*): run_/m.exec(err)?.[1], JSON.parse(out).runs[0].reattached];
  };
  const push = (place: string) =>
    fixtures.find((one) => one.place === place && one.name === 'push')?.env ?? {};

  it.each(['github', 'circleci', 'buildkite'])('that the first job of %s created the run', async (place) => {
    expect(await started(push(place))).toEqual(['created run', false]);
  });

  it.each(['gitlab', 'travis'])('nothing of the kind for %s, which does not count re-runs', async (place) => {
    expect(await started(push(place))).toEqual(['run', null]);
  });
});
