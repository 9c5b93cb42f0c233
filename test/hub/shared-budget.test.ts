import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { windowMs } from '../../src/gate/fleet/protocol.ts';
import { Budget } from '../../src/hub/budget.ts';
import type { RequestLine } from '../../src/hub/ledger.ts';
import { LogModel } from './log-model.ts';

const limits = { reads: 12, creates: 6, requests: 16 };
const beatMs = 3_000;

/** Several hubs on one Redis, in virtual time. */
class World {
  now = 1_000_000;
  ahead = 0;
  isDown = false;
  readonly log = new LogModel(() => this.now + this.ahead);
  /** The hubs that do not reach Redis, although it works. */
  readonly cut = new Set<number>();
  readonly grants: { line: RequestLine; at: number }[] = [];
  readonly hubs: Budget[] = [];
  #starts = 0;

  constructor(readonly count: number) {
    for (let at = 0; at < count; at += 1) this.start(at);
  }

  start(at: number): void {
    // The monotonic clock of each hub began at another moment.
    this.#starts += 1;
    const began = this.now - 1_000 * this.#starts;
    const run = async (args: readonly string[]) => {
      if (this.isDown || this.cut.has(at)) throw new Error('Redis is away');
      return this.log.run(args);
    };
    const now = () => this.now - began;
    this.hubs[at] = new Budget(run, { limits, hubs: this.count, now });
  }

  /** Lets time pass; each hub refreshes every 3 s, as the server makes it. */
  async pass(ms: number): Promise<void> {
    for (let left = ms; left > 0; ) {
      const step = Math.min(left, beatMs - (this.now % beatMs));
      this.now += step;
      left -= step;
      if (this.now % beatMs === 0) for (const hub of this.hubs) await hub.refresh();
    }
  }

  async reserve(at: number, line: RequestLine): Promise<boolean> {
    const { granted } = (await this.hubs[at]?.reserve(line, 0)) ?? { granted: false };
    if (granted) this.grants.push({ line, at: this.now });
    return granted;
  }

  /** Asks until all hubs are refused. */
  async exhaust(): Promise<void> {
    for (let at = 0; at < this.count; at += 1)
      for (const line of ['create', 'read', 'safety'] as const) while (await this.reserve(at, line));
  }

  most(lines: readonly RequestLine[], sentMs = windowMs): number {
    const times = this.grants.filter(({ line }) => lines.includes(line)).map(({ at }) => at);
    return Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + sentMs).length));
  }
}

/** All hubs have worked with Redis for a while. */
async function started(count: number): Promise<World> {
  const world = new World(count);
  await world.pass(windowMs + 2 * beatMs);
  return world;
}

type Step =
  | { do: 'ask'; hub: number; line: RequestLine; times: number }
  | { do: 'pass'; ms: number }
  | { do: Fault; hub: number; ms: number };

type Fault = 'down' | 'up' | 'empty' | 'clock' | 'cut' | 'restart';

const steps = (...faults: Fault[]) =>
  fc.array(
    fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant('ask' as const),
          hub: fc.nat(2),
          line: fc.constantFrom<RequestLine>('create', 'read', 'safety'),
          times: fc.integer({ min: 1, max: 20 }),
        }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant('pass' as const), ms: fc.nat(40_000) }) },
      {
        weight: 2,
        arbitrary: fc.record({ do: fc.constantFrom(...faults), hub: fc.nat(2), ms: fc.nat(200_000) }),
      },
    ),
    { minLength: 5, maxLength: 60 },
  );

async function play(world: World, step: Step): Promise<void> {
  const hub = 'hub' in step ? step.hub % world.count : 0;
  switch (step.do) {
    case 'ask':
      // The lines of a hub ask at the same time.
      await Promise.all(Array.from({ length: step.times }, () => world.reserve(hub, step.line)));
      return;
    case 'pass':
      return world.pass(step.ms);
    case 'down':
      world.isDown = true;
      return;
    case 'up':
      world.isDown = false;
      return;
    case 'empty':
      world.log.clear();
      return;
    case 'clock':
      world.ahead = step.ms - 100_000;
      return;
    case 'cut':
      world.cut.has(hub) ? world.cut.delete(hub) : world.cut.add(hub);
      return;
    case 'restart':
      return world.start(hub);
  }
}

const all = ['create', 'read', 'safety'] as const;

describe('several hubs in any 62 s', () => {
  // A clock that is set forward makes an entry older by at most the time since a hub has last read the log.
  const faults = [
    { name: 'Redis fails or is emptied', does: ['down', 'up', 'empty'], sentMs: windowMs },
    { name: 'its clock is set, too', does: ['down', 'up', 'empty', 'clock'], sentMs: windowMs - beatMs },
  ] as const;
  it.each(faults.flatMap((fault) => [1, 2, 3].map((count) => ({ ...fault, count }))))(
    '$count never grant more than the budget when $name',
    async ({ count, does, sentMs }) => {
      await fc.assert(
        fc.asyncProperty(steps(...does), async (schedule) => {
          const world = await started(count);
          for (const step of schedule) await play(world, step);
          expect(world.most(['create'], sentMs)).toBeLessThanOrEqual(limits.creates);
          expect(world.most(['read', 'safety'], sentMs)).toBeLessThanOrEqual(limits.reads);
          expect(world.most(all, sentMs)).toBeLessThanOrEqual(limits.requests);
        }),
        { numRuns: 80 },
      );
    },
  );

  it('never grant more than the budget while they restart, if Redis works', async () => {
    await fc.assert(
      fc.asyncProperty(steps('restart'), async (schedule) => {
        const world = await started(2);
        for (const step of schedule) await play(world, step);
        expect(world.most(all)).toBeLessThanOrEqual(limits.requests);
      }),
      { numRuns: 150 },
    );
  });

  it('never grant more than the budget and the shares of all but one, if some do not reach Redis', async () => {
    await fc.assert(
      fc.asyncProperty(steps('down', 'up', 'empty', 'cut'), async (schedule) => {
        const world = await started(2);
        for (const step of schedule) await play(world, step);
        expect(world.most(all)).toBeLessThanOrEqual(limits.requests + limits.requests / 2);
      }),
      { numRuns: 150 },
    );
  });

  it('never grant more than a quarter of a share more for each start without Redis or after its loss', async () => {
    await fc.assert(
      fc.asyncProperty(steps('down', 'up', 'empty', 'restart'), async (schedule) => {
        const world = await started(2);
        for (const step of schedule) await play(world, step);
        const starts = schedule.filter((step) => step.do === 'restart').length;
        const most = limits.requests + starts * Math.ceil(limits.requests / 4);
        expect(world.most(all)).toBeLessThanOrEqual(most);
      }),
      { numRuns: 150 },
    );
  });
});

describe('two hubs', () => {
  it('share the whole budget while Redis works', async () => {
    const world = await started(2);
    await world.exhaust();
    expect(world.most(['create'])).toBe(limits.creates);
    expect(world.most(all)).toBeGreaterThan(limits.requests - 3);
  });

  it('grant nothing for a minute after Redis is lost, and then half of the budget each', async () => {
    const world = await started(2);
    world.isDown = true;
    await world.exhaust();
    await world.pass(windowMs - beatMs);
    await world.exhaust();
    expect(world.grants).toEqual([]);
    await world.pass(2 * beatMs);
    await world.exhaust();
    expect(world.grants.filter(({ line }) => line === 'create')).toHaveLength(limits.creates);
  });
});
