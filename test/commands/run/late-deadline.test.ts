import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { rowOf } from '../../../src/mock/faults/kinds.ts';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { type Settings, type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
/** How long the next lost reads take on the clock, in milliseconds. */
let delays: number[] = [];
beforeAll(() => {
  const { play: reset } = rowOf('reset');
  vi.spyOn(rowOf('reset'), 'play').mockImplementation((wire, fault) => {
    on.clock.advance(delays.shift() ?? 0);
    return reset(wire, fault);
  });
});
afterEach(() => on.close());
afterAll(() => vi.restoreAllMocks());

const checkout = ['--project', 'shop', '--process', 'checkout'];
const hourMs = 3_600_000;
const lost = (skip: number, times = 1): Fault => ({
  kind: 'reset',
  endpoint: 'run.status',
  skip,
  times,
});
const asked = (endpoint: string) => on.mock.requests.filter((request) => request.endpoint === endpoint);

const createRun = async () => (await on.rungate('run', 'trigger', ...checkout, '--no-wait')).out.trim();

/** The commands that wait for a run. */
const commands = {
  gate: async () => ['gate', ...checkout],
  'run trigger --wait': async () => ['run', 'trigger', ...checkout, '--wait'],
  'run wait': async () => ['run', 'wait', await createRun()],
};
const names = Object.keys(commands) as (keyof typeof commands)[];

interface Scene extends MockOptions {
  delays?: number[];
  faults?: Fault[];
  settings?: Settings;
}

/** Plays a wait of 30 s. */
async function play(command: keyof typeof commands, flags: readonly string[], scene: Scene) {
  const { faults = [], settings = {}, ...options } = scene;
  on = await stage(options);
  delays = scene.delays ?? [];
  const argv = await commands[command]();
  for (const fault of faults) on.mock.faults.add(fault);
  const limits = ['--timeout', '30s', '--json'];
  const { code, out, err } = await on.with(settings)(...argv, ...limits, ...flags);
  return { code, err, run: JSON.parse(out).runs[0] };
}

describe.each(names)('%s: a read that the deadline cuts', (command) => {
  it('is a timeout, and follows the policy for it', async () => {
    const scene: Scene = { outcome: 'stuck', delays: [9_500], faults: [lost(2)] };
    const { code, run } = await play(command, [], scene);
    expect([code, run.verdict, run.attempts, run.state]).toEqual([3, 'timeout', 2, 'in_progress']);
    await on.close();
    const lax = await play(command, ['--on', 'timeout=warn'], {
      ...scene,
      delays: [9_500],
      faults: [lost(2)],
    });
    expect([lax.code, lax.run.action]).toEqual([0, 'warn']);
  });
});

describe.each(names)('%s: after a sleep past the deadline', (command) => {
  /** The computer sleeps for an hour during the wait between the first two reads. */
  const asleep = (): Settings => {
    let woke = false;
    return {
      stopsWhen() {
        if (!woke && asked('run.status').length === 1) {
          woke = true;
          on.clock.advance(hourMs);
        }
        return false;
      },
    };
  };

  it.each(['passed', 'failed'] as const)('reads the run once: it has %s', async (outcome) => {
    const { code, run } = await play(command, [], { outcome, duration: 60_000, settings: asleep() });
    expect([code, run.verdict]).toEqual([outcome === 'passed' ? 0 : 1, outcome]);
  });
});
