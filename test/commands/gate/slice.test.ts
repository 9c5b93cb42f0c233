import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { asked, type Settings, type Stage, stage } from '../../cli/harness.ts';

const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--slice', '45s', '--json'] as const;

let on: Stage;
let world: Settings;
beforeEach(async () => {
  on = await stage({ outcome: 'failed' });
  const state = mkdtempSync(join(tmpdir(), 'slices-'));
  world = { cwd: '/repo', files: { '/repo/.git': '' }, env: { RUNGATE_CONFIG_DIR: state } };
  // A slice ends with the run here, not with the clock.
  world.clock = {
    ...on.clock,
    sleep: (ms, signal) => (ms === 45_000 ? untilAborted(signal) : on.clock.sleep(ms, signal)),
  };
});
afterEach(() => on.close());

const untilAborted = (signal: AbortSignal | undefined) =>
  new Promise<void>((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
const run = async (argv: readonly string[] = gate) => on.with(world)(...argv);
const runsCreated = () => asked(on.mock).filter((endpoint) => endpoint === 'run.trigger').length;

describe('a gate whose run could not be observed', () => {
  it.each([
    ['refuses the credential', 403, 6],
    ['does not know the run', 404, 5],
  ])('looks for the same run again, after a service that %s', async (_what, status, code) => {
    on.mock.faults.add({ kind: 'status', status, endpoint: 'run.status', times: 9 });
    expect((await run()).code).toBe(code);
    on.mock.faults.clear();
    const { code: verdict, err } = await run();
    expect([verdict, runsCreated()]).toEqual([1, 1]);
    expect(err).toMatch(/^going on with run_/);
  });

  it('looks for a run that may have been created', async () => {
    on.mock.faults.add({ kind: 'status', status: 500, endpoint: 'run.trigger', times: 99 });
    expect((await run()).code).toBe(5);
    on.mock.faults.clear();
    expect((await run()).code).toBe(1);
    const keys = new Set(on.mock.requests.flatMap(({ headers }) => headers['idempotency-key'] ?? []));
    expect(keys.size).toBe(1);
  });
});

it('starts a new run after a verdict has been reported', async () => {
  expect((await run()).code).toBe(1);
  expect((await run()).code).toBe(1);
  expect(runsCreated()).toBe(2);
});
