import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/gate/decide.ts';
import type { Reading } from '../../src/gate/reads.ts';
import { run, type Tell, type Work } from '../../src/gate/runner.ts';
import type { PlanState } from '../../src/gate/state.ts';
import { virtualTime } from '../virtual-time.ts';
import { freshPlan, ended as passed, pause, running } from './checker/world.ts';

/** Runs a plan of one gate. The run ends after `runMs`; a read takes `readMs`. The clock begins at `now`. */
function scene({
  runMs = 20_000,
  readMs = 100,
  now = 0,
}: {
  runMs?: number;
  readMs?: number;
  now?: number;
} = {}) {
  const time = virtualTime(now);
  const log: string[] = [];
  const saved: PlanState[] = [];
  const answers: ((reading: Reading) => Promise<void>)[] = [];
  let tell: Tell = async () => {};
  const work = async (effect: Work, report: Tell, signal: AbortSignal) => {
    if (effect.type === 'turn') return report({ type: 'granted', gate: effect.gate });
    const at = time.clock.monotonic() / 1000;
    log.push(`${at}: ${effect.type}`);
    if (effect.type === 'create') {
      await report({ type: 'sending', gate: effect.gate });
      log.push(`sent with sentAt ${saved.at(-1)?.gates.a?.key?.sentAt}`);
      await time.clock.sleep(50);
      const { gate, key } = effect;
      await report({ type: 'created', gate, key, run: 'R', appUrl: null, replayed: false, limitedMs: 0 });
    }
    if (effect.type === 'read') {
      const { gate, run: id } = effect;
      const answer = (reading: Reading) => report({ type: 'read', gate, run: id, reading, ...pause });
      answers.push(answer);
      await report({ type: 'reading', gate, run: id });
      await time.clock.sleep(readMs, signal);
      await answer(time.clock.monotonic() >= runMs ? passed : running);
    }
    if (effect.type === 'cancel')
      await report({ type: 'cancelled', gate: effect.gate, run: effect.run, ok: true });
  };
  const start = (
    first: Event = { type: 'time' },
    plan = freshPlan({ attempts: 1, keys: 'silent', depth: 0 }, 1),
  ) =>
    run(plan, first, {
      clock: time.clock,
      now: time.clock.now,
      work,
      save: async (state) => void saved.push(structuredClone(state)),
      say: () => {},
      listen(heard) {
        tell = heard;
        return () => {};
      },
    });
  return { time, log, saved, answers, start, tell: (event: Event) => tell(event) };
}

describe('the runner', () => {
  it('creates the run when the state is saved, reads it at the interval, and ends with its verdict', async () => {
    const { time, log, start } = scene();
    const ended = start();
    await time.run(60_000);
    expect((await ended).gates.a?.end).toMatchObject({ verdict: 'passed', action: 'pass', exitCode: 0 });
    expect(log).toEqual(['0: create', 'sent with sentAt 0', '0.05: read', '10.15: read', '20.25: read']);
  });

  it('drops the response to a read that a stop has just ended', async () => {
    const { time, answers, start, tell } = scene({ readMs: 5_000 });
    const ended = start();
    time.at(12_000, () => {
      void tell({ type: 'stop', by: 'SIGINT' });
      void answers.at(-1)?.(passed);
    });
    await time.run(12_000);
    const { end, run: stopped } = (await ended).gates.a ?? {};
    expect([end?.by, stopped?.cancel, stopped?.outcome]).toEqual(['SIGINT', 'accepted', null]);
  });

  it('throws if work ends without an event, which would begin again for ever', async () => {
    const { clock } = virtualTime();
    const tools = {
      clock,
      now: clock.now,
      work: async () => {},
      save: async () => {},
      say: () => {},
      listen: () => () => {},
    };
    const plan = freshPlan({ attempts: 1, keys: 'silent', depth: 0 }, 1);
    await expect(run(plan, { type: 'time' }, tools)).rejects.toThrow('turn key-a has changed nothing');
  });

  it('cancels the runs of the other gates after a bug in one', async () => {
    const time = virtualTime();
    const cancelled: string[] = [];
    const work = async (effect: Work, tell: Tell, signal: AbortSignal) => {
      if (effect.type === 'turn') await tell({ type: 'granted', gate: effect.gate });
      if (effect.type === 'create') {
        const { gate, key } = effect;
        await tell({ type: 'sending', gate });
        const known = { run: `R${gate}`, appUrl: null, replayed: false, limitedMs: 0 };
        await tell({ type: 'created', gate, key, ...known });
      }
      if (effect.type === 'read') {
        await tell({ type: 'reading', gate: effect.gate, run: effect.run });
        await time.clock.sleep(effect.gate === 'a' ? 1_000 : 20_000, signal);
        throw new Error(`a bug in gate ${effect.gate}`);
      }
      if (effect.type !== 'cancel') return;
      cancelled.push(effect.run);
      await tell({ type: 'cancelled', gate: effect.gate, run: effect.run, ok: true });
    };
    const tools = { clock: time.clock, now: time.clock.now, work, save: async () => {} };
    const plan = freshPlan({ attempts: 1, keys: 'silent', gates: 2, depth: 0 }, 1);
    const ended = run(plan, { type: 'time' }, { ...tools, say: () => {}, listen: () => () => {} });
    const thrown = expect(ended).rejects.toThrow('a bug in gate a');
    await time.run(60_000);
    await thrown;
    expect(cancelled.toSorted()).toEqual(['Ra', 'Rb']);
  });
});
