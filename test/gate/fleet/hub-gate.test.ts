import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HttpError, NetworkError, type RungateError } from '../../../src/errors.ts';
import type { HubLink } from '../../../src/gate/fleet/hub-link.ts';
import type { HubClient } from '../../../src/gate/fleet/protocol.ts';
import type { PollRules } from '../../../src/gate/poll.ts';
import type { RunService } from '../../../src/gate/service.ts';
import { waitForRuns } from '../../../src/gate/wait.ts';
import { type WatchedRun, watch } from '../../../src/gate/watched-run.ts';
import { memoryHub } from '../../../src/hub/hub.ts';
import { type VirtualTime, virtualTime } from '../../virtual-time.ts';
import { readStatus } from '../../without-redaction.ts';
import { createHubLink, type FakeStream, fakeHub } from './fake-hub.ts';

const minute = 60_000;

interface Case {
  /** When the run ends, and how. */
  endsAt: number;
  failed?: number;
  retryAfterSeconds?: number | undefined;
  rules?: Partial<PollRules>;
  runIds?: readonly string[];
  /** Errors instead of a status, by the number of the read. */
  errors?: Readonly<Record<number, HttpError | NetworkError>>;
}

/** Starts a gate over a hub. Each read takes 100 ms. */
function startGate(time: VirtualTime, client: HubClient, given: Case) {
  const { endsAt, failed = 0, retryAfterSeconds, runIds = ['run_1'], errors = {} } = given;
  const { clock } = time;
  const reads: number[] = [];
  const service = {
    async read() {
      reads.push(clock.monotonic());
      const error = errors[reads.length];
      if (error !== undefined) throw error;
      const over = clock.monotonic() >= endsAt;
      const json = over
        ? { state: 'completed', failed, blocked: 0 }
        : { state: 'in_progress', retryAfterSeconds };
      await clock.sleep(100);
      return { reading: readStatus(json) };
    },
  } as unknown as RunService;
  const changes: (RungateError | null)[] = [];
  const random = () => 0;
  const link: HubLink = createHubLink(client, { clock, random, onChange: (error) => changes.push(error) });
  const stop = new AbortController();
  const runs: WatchedRun[] = runIds.map((runId) => watch(runId, clock.monotonic()));
  const rules: PollRules = {
    ...{ intervalMs: 10_000, maxAttempts: Number.POSITIVE_INFINITY, createdAt: 0, hub: true },
    ...given.rules,
    deadline: clock.monotonic() + (given.rules?.deadline ?? 30 * minute),
  };
  const gate = { reads, runs, stop, changes, endedAt: Number.POSITIVE_INFINITY, error: undefined as unknown };
  waitForRuns(runs, rules, { service, clock, random, hub: link, signal: stop.signal })
    .catch((error: unknown) => {
      gate.error = error;
    })
    .finally(() => {
      gate.endedAt = clock.monotonic();
      link.close();
    });
  return gate;
}

const verdictOf = ({ runs }: { runs: readonly WatchedRun[] }) => runs[0]?.outcome?.verdict;

/** A stream that is ready and lives until the test ends. */
function alive(time: VirtualTime, stream: FakeStream) {
  stream.send({ type: 'ready' });
  const beat = () => {
    if (stream.ended) return;
    stream.send({ type: 'heartbeat' });
    time.at(time.clock.monotonic() + 3000, beat);
  };
  beat();
}

describe('a gate with a hub', () => {
  it('subscribes, reads once, and reads again when it is woken, before the time that the service asks for', async () => {
    const time = virtualTime();
    const hub = fakeHub((stream) => alive(time, stream));
    const gate = startGate(time, hub.client, { endsAt: 5000, retryAfterSeconds: 100 });
    time.at(5500, () => hub.streams[0]?.send({ type: 'wake', runId: 'run_1', id: '1' }));
    await time.run(10_000);
    expect(hub.log).toEqual(['stream', 'first', 'confirm']);
    expect(gate.reads).toEqual([0, 5500]);
    expect(gate.endedAt).toBe(5600);
    expect(verdictOf(gate)).toBe('passed');
  });

  it('looks a second time after 5 s if the delivery came before the status', async () => {
    const time = virtualTime();
    const hub = fakeHub((stream) => alive(time, stream));
    const gate = startGate(time, hub.client, { endsAt: 5000, retryAfterSeconds: 100 });
    time.at(4000, () => hub.streams[0]?.send({ type: 'wake', runId: 'run_1', id: '1' }));
    await time.run(20_000);
    expect(gate.reads).toEqual([0, 4000, 9100]);
    expect(hub.log).toEqual(['stream', 'first', 'confirm', 'confirm']);
    expect(verdictOf(gate)).toBe('passed');
  });

  it('looks a second time with a safety read if the delivery came before the first read of a new run', async () => {
    const time = virtualTime();
    const hub = fakeHub((stream) => {
      alive(time, stream);
      stream.send({ type: 'wake', runId: 'run_1', id: '1' });
    });
    const gate = startGate(time, hub.client, { endsAt: 1, retryAfterSeconds: 900 });
    await time.run(minute);
    expect(hub.log).toEqual(['stream', 'confirm', 'safety']);
    expect(gate.reads).toEqual([0, 5100]);
    expect(verdictOf(gate)).toBe('passed');
  });

  it.each([
    ['the service asks for', 20, 20_000],
    ['--interval sets', undefined, 10_000],
  ])(
    'sends no safety read before the time that %s, even if the hub grants all at once',
    async (_name, retryAfterSeconds, atLeast) => {
      const time = virtualTime();
      const gate = startGate(time, fakeHub((stream) => alive(time, stream)).client, {
        endsAt: 5 * minute,
        retryAfterSeconds,
      });
      await time.run(6 * minute);
      expect(verdictOf(gate)).toBe('passed');
      for (const [at, read] of gate.reads.slice(1).entries())
        expect(read - (gate.reads[at] as number)).toBeGreaterThanOrEqual(atLeast);
    },
  );

  it.each([
    ['a 429', new HttpError('429', { status: 429, retryAfterMs: 30_000 })],
    ['a 503 with Retry-After', new HttpError('503', { status: 503, retryAfterMs: 30_000 })],
  ])('waits after %s as long as the service asks for, whatever the hub says', async (_name, error) => {
    const time = virtualTime();
    const hub = fakeHub((stream) => alive(time, stream));
    const gate = startGate(time, hub.client, { endsAt: 500, errors: { 1: error } });
    for (let at = 1; at < 20; at += 1)
      time.at(1000 * at, () => hub.streams[0]?.send({ type: 'wake', runId: 'run_1', id: String(at) }));
    await time.run(minute);
    expect(gate.reads).toEqual([0, 30_000]);
    expect(verdictOf(gate)).toBe('passed');
    expect(hub.limited).toEqual(error.status === 429 ? [30_000] : []);
  });

  it('ends at --max-attempts', async () => {
    const time = virtualTime();
    const hub = fakeHub((stream) => alive(time, stream));
    const gate = startGate(time, hub.client, { endsAt: 60 * minute, rules: { maxAttempts: 3 } });
    await time.run(10 * minute);
    expect(gate.reads).toHaveLength(3);
    expect(verdictOf(gate)).toBe('timeout');
  });

  it('sends as many safety reads as --max-attempts allows, however often it is woken', async () => {
    const time = virtualTime();
    const hub = fakeHub((stream) => alive(time, stream));
    const gate = startGate(time, hub.client, { endsAt: 9 * minute, rules: { maxAttempts: 60 } });
    for (let at = 1; at <= 20; at += 1)
      time.at(1000 * at, () => hub.streams[0]?.send({ type: 'wake', runId: 'run_1', id: String(at) }));
    await time.run(20 * minute);
    expect(verdictOf(gate)).toBe('passed');
    expect(gate.reads.length).toBeLessThanOrEqual(60 + 20);
  });

  it('waits for a wake-up until --timeout, also when the next read would come later', async () => {
    const time = virtualTime();
    const hub = fakeHub((stream) => alive(time, stream));
    const gate = startGate(time, hub.client, {
      ...{ endsAt: 50_000, retryAfterSeconds: 600, rules: { deadline: minute } },
    });
    time.at(51_000, () => hub.streams[0]?.send({ type: 'wake', runId: 'run_1', id: '1' }));
    await time.run(10 * minute);
    expect(gate.reads).toEqual([0, 51_000]);
    expect(verdictOf(gate)).toBe('passed');
  });

  it('ends at --timeout when no wake-up comes, and no read is allowed before it', async () => {
    const time = virtualTime();
    const gate = startGate(time, fakeHub((stream) => alive(time, stream)).client, {
      ...{ endsAt: 60 * minute, retryAfterSeconds: 600, rules: { deadline: minute } },
    });
    await time.run(10 * minute);
    expect(gate.endedAt).toBe(minute);
    expect(verdictOf(gate)).toBe('timeout');
    expect(gate.reads).toEqual([0]);
  });

  it.each([
    ['passed', 40_000],
    ['timeout', Number.POSITIVE_INFINITY],
  ])('reads once more if the computer slept through --timeout: %s', async (verdict, endsAt) => {
    const time = virtualTime();
    let sleptMs = 0;
    const clock = { ...time.clock, monotonic: () => time.clock.monotonic() + sleptMs };
    const hub = fakeHub((stream) => alive(time, stream));
    const gate = startGate({ ...time, clock }, hub.client, {
      ...{ endsAt, retryAfterSeconds: 600, rules: { deadline: minute } },
    });
    time.at(30_000, () => {
      sleptMs = 60 * minute;
    });
    await time.run(10 * minute);
    expect(gate.reads).toEqual([0, 61 * minute]);
    expect(verdictOf(gate)).toBe(verdict);
  });

  it('is not woken within 1 s of a failed read', async () => {
    const time = virtualTime();
    const hub = fakeHub((stream) => alive(time, stream));
    const errors = { 1: new HttpError('503', { status: 503 }) };
    const gate = startGate(time, hub.client, { endsAt: 500, errors });
    for (const at of [100, 200, 900])
      time.at(at, () => hub.streams[0]?.send({ type: 'wake', runId: 'run_1', id: String(at) }));
    await time.run(minute);
    expect(gate.reads).toEqual([0, 1000]);
    expect(hub.log).toEqual(['stream', 'first', 'confirm']);
  });

  const asleep = (time: VirtualTime) =>
    fakeHub(
      (stream) => alive(time, stream),
      () => {},
    );

  it.each([
    ['has ended', 0, 'passed'],
    ['is in progress', 60 * minute, 'timeout'],
  ])(
    'reads once by itself 10 s before --timeout when the hub grants nothing: the run %s',
    async (_name, endsAt, verdict) => {
      const time = virtualTime();
      const gate = startGate(time, asleep(time).client, { endsAt, rules: { deadline: minute } });
      await time.run(10 * minute);
      expect(gate.reads).toEqual([50_000]);
      expect(verdictOf(gate)).toBe(verdict);
    },
  );

  it('reads by itself after 3 min if the hub grants nothing to anyone, and warns once', async () => {
    const time = virtualTime();
    const hub = fakeHub(
      (stream) => alive(time, stream),
      (grant) => time.at(time.clock.monotonic() + 20_000, () => grant.settle(false)),
    );
    const gate = startGate(time, hub.client, { endsAt: 5 * minute });
    await time.run(30 * minute);
    expect(verdictOf(gate)).toBe('passed');
    expect(gate.reads[0]).toBe(180_000);
    // Then a read waits for one response of the hub.
    const between = gate.reads.slice(1).map((at, index) => at - Number(gate.reads[index]));
    expect(between).toEqual([30_100, 30_100, 30_100, 30_100]);
    expect(gate.endedAt).toBeLessThan(5 * minute + 31_000);
    expect(gate.changes.map((error) => error?.message)).toEqual(['the hub grants no request']);
  });

  it('waits for its turn at a hub that is back as long as it grants the requests of other gates', async () => {
    const time = virtualTime();
    let asked = 0;
    const hub = fakeHub(
      (stream) => alive(time, stream),
      (grant) => {
        asked += 1;
        if (asked === 1) return grant.fail(new NetworkError('refused', 'refused'));
        const isTurn = asked === 21;
        time.at(time.clock.monotonic() + 20_000, () => grant.settle(isTurn, 5000));
      },
    );
    const gate = startGate(time, hub.client, { endsAt: 2 * minute });
    await time.run(30 * minute);
    expect(gate.reads).toEqual([0, 410_100]);
    expect(gate.changes.map((error) => error?.message)).toEqual(['refused', undefined]);
  });

  it.each([
    ['while it connects', () => {}, 1000],
    ['while it waits for a grant', undefined, 1000],
  ])('ends at once when it is stopped %s', async (_name, onStream, at) => {
    const time = virtualTime();
    const hub = fakeHub(onStream ?? ((stream) => alive(time, stream)), () => {});
    const gate = startGate(time, hub.client, { endsAt: 0 });
    time.at(at, () => gate.stop.abort(new Error('stopped')));
    await time.run(5000);
    expect(gate.endedAt).toBe(at);
    expect(gate.error).toBe(undefined);
    expect(hub.streams[0]?.ended).toBe(true);
  });

  it('keeps within the limit on reads with many runs when all grants come at once, and when the hub is lost', async () => {
    const warnings: Error[] = [];
    const onWarning = (warning: Error) => warnings.push(warning);
    process.on('warning', onWarning);
    for (const grantsAfter of [0, 9000]) {
      const time = virtualTime();
      const runIds = Array.from({ length: 150 }, (_, at) => `run_${at}`);
      const hub = fakeHub(
        (stream) => alive(time, stream),
        (grant) => {
          if (grantsAfter === 0) grant.settle(true);
          else time.at(grantsAfter, () => grant.fail(new NetworkError('broken', 'broken')));
        },
      );
      const gate = startGate(time, hub.client, { endsAt: 3 * minute, runIds });
      await time.run(15 * minute);
      expect(gate.runs.every(({ outcome }) => outcome?.verdict === 'passed')).toBe(true);
      for (const at of gate.reads)
        expect(gate.reads.filter((other) => other >= at && other < at + minute).length).toBeLessThanOrEqual(
          60,
        );
    }
    process.off('warning', onWarning);
    expect(warnings).toEqual([]);
  });
});

describe('a hub that lies', () => {
  const lies = fc.record({
    endsAt: fc.integer({ min: 0, max: 4 * minute }),
    failed: fc.nat(1),
    retryAfterSeconds: fc.option(fc.integer({ min: 1, max: 60 }), { nil: undefined }),
    maxAttempts: fc.oneof(fc.constant(Number.POSITIVE_INFINITY), fc.integer({ min: 1, max: 10 })),
    deadline: fc.integer({ min: 1000, max: 5 * minute }),
    /** Milliseconds between wake-ups; 0: none. */
    wakeEvery: fc.constantFrom(0, 1, 50, 3000),
    /** Milliseconds until a grant; null: never; "not yet": the gate should ask again, always. */
    grant: fc.oneof(fc.nat(20_000), fc.constant(null), fc.constant('not yet' as const)),
    breaks: fc.array(fc.nat(5 * minute), { maxLength: 5 }),
  });

  it('never makes a gate green or red, nor read more than the limits allow', async () => {
    await fc.assert(
      fc.asyncProperty(
        lies,
        async ({ endsAt, failed, retryAfterSeconds, maxAttempts, deadline, wakeEvery, grant, breaks }) => {
          const time = virtualTime();
          let id = 0;
          const hub = fakeHub(
            (stream) => {
              alive(time, stream);
              const wake = () => {
                if (stream.ended) return;
                id += 1;
                stream.send({ type: 'wake', runId: 'run_1', id: String(id) });
                if (id < 3000) time.at(time.clock.monotonic() + wakeEvery, wake);
              };
              if (wakeEvery > 0) wake();
            },
            (asked) => {
              if (typeof grant === 'number')
                time.at(time.clock.monotonic() + grant, () => asked.settle(true));
              else if (grant === 'not yet') time.at(time.clock.monotonic() + 1000, () => asked.settle(false));
            },
          );
          for (const at of breaks)
            time.at(at, () => hub.streams.at(-1)?.fail(new NetworkError('broken', 'broken')));
          const rules = { maxAttempts, deadline };
          const gate = startGate(time, hub.client, { endsAt, failed, retryAfterSeconds, rules });
          await time.run(deadline + minute);

          const verdict = verdictOf(gate);
          const truth = failed > 0 ? 'failed' : 'passed';
          expect([truth, 'timeout', 'unobserved']).toContain(verdict);
          if (verdict === truth) expect(gate.reads.at(-1)).toBeGreaterThanOrEqual(endsAt);
          // The gate reads by itself before the deadline.
          const interval = 1000 * (retryAfterSeconds ?? 10);
          if (maxAttempts === Number.POSITIVE_INFINITY && endsAt + interval + 11_000 < deadline)
            expect(verdict).toBe(truth);
          expect(gate.endedAt).toBeLessThanOrEqual(deadline + 101);
          expect(gate.reads.length).toBeLessThanOrEqual(maxAttempts + 20);
          // At most ten wake-ups count, each for two reads.
          expect(gate.reads.length).toBeLessThanOrEqual(1 + deadline / interval + 20);
        },
      ),
      { numRuns: 30 },
    );
  });
});

describe('no wake-up is lost', () => {
  const interleavings = fc.record({
    endsAt: fc.integer({ min: 0, max: 60_000 }),
    startsAt: fc.integer({ min: 0, max: 90_000 }),
    /** From the end of the run to its deliveries: it may also come before the status says so. */
    deliveries: fc.array(fc.integer({ min: -4000, max: 20_000 }), { minLength: 1, maxLength: 4 }),
    breaks: fc.array(fc.nat(90_000), { maxLength: 4 }),
    latencyMs: fc.nat(500),
  });

  /** The longest backoff after four failures, and the time for a new stream, a grant, a read and a second look. */
  const bound = 10_000 + 8000;

  it('in any order of subscribe, delivery, end of run and reconnect', async () => {
    await fc.assert(
      fc.asyncProperty(interleavings, async ({ endsAt, startsAt, deliveries, breaks, latencyMs }) => {
        const time = virtualTime();
        const { clock } = time;
        const limits = { reads: 48, creates: 16, requests: 80 };
        const hub = memoryHub(limits, clock, true);
        // The streams of the fake, with the wake-ups and the grants of the hub.
        const fake = fakeHub(
          async (stream) => {
            await clock.sleep(latencyMs);
            alive(time, stream);
            const end = hub.wakes.subscribe(stream.runIds, Number(stream.lastId ?? 0), async ({ id, at }) => {
              await clock.sleep(latencyMs);
              stream.send({ type: 'wake', runId: id, id: String(at) });
            });
            time.at(Number.POSITIVE_INFINITY, end);
          },
          async (grant) => {
            await hub.scheduler.grant(grant.asked, new AbortController().signal);
            grant.settle(true);
          },
        );
        let gate: ReturnType<typeof startGate> | undefined;
        time.at(startsAt, () => {
          const rules = { deadline: 20 * minute };
          gate = startGate(time, fake.client, { endsAt, retryAfterSeconds: 900, rules });
        });
        for (const after of deliveries)
          time.at(Math.max(0, endsAt + after), () => hub.wakes.announce(['run_1']));
        for (const at of breaks)
          time.at(at, () => fake.streams.at(-1)?.fail(new NetworkError('broken', 'broken')));
        await time.run(25 * minute);
        expect(gate && verdictOf(gate)).toBe('passed');
        const named = Math.max(0, ...deliveries.map((after) => endsAt + after));
        expect(gate?.endedAt).toBeLessThanOrEqual(Math.max(startsAt, endsAt, named) + bound);
      }),
      { numRuns: 120 },
    );
  });
});
