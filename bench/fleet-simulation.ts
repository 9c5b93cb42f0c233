// Simulates gates of one tenant against a rate limiter, in virtual time. The gates run the code of `run trigger --wait`;
// the service and the clock are simulated. `bench/fleet.mjs` and the tests of the load use it.

import { createCaller } from '../src/client/caller.ts';
import { ceilings } from '../src/client/rate-limit.ts';
import type { Clock } from '../src/clock.ts';
import { NetworkError } from '../src/errors.ts';
import { chainOf } from '../src/gate/chain.ts';
import { HubLinks } from '../src/gate/fleet/hub-link.ts';
import type { HubClient } from '../src/gate/fleet/protocol.ts';
import { oneGate, unnamed } from '../src/gate/plan/plan.ts';
import { runPlan } from '../src/gate/plan/run-plan.ts';
import type { Policy } from '../src/gate/policy.ts';
import { runService } from '../src/gate/service.ts';
import { type Hub, memoryHub } from '../src/hub/hub.ts';
import { nameInCommands } from '../src/options/spelling.ts';
import type { RawReply, Transport } from '../src/transport/transport.ts';
import { behind, type SlowProxy, type Trouble, type TroubleState, troubleOf } from './fleet-trouble.ts';

export const second = 1000;
export const minute = 60 * second;

/** A seeded random number generator (mulberry32). */
export function randomFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

export type Kind = 'read' | 'create';
type RunTimes = readonly [shortestMs: number, longestMs: number];

/** Whether a request is accepted, and the `Retry-After` in seconds if it is not. */
export type Limiter = (kind: Kind, now: number) => { allowed: boolean; retryAfter?: number };

export interface LimiterOptions {
  /** Whether refused requests count towards the limit. */
  counting: boolean;
  /** Whether refusals have a `Retry-After`: the time until the sliding minute allows a request again. */
  retryAfter: boolean;
}

export const limiters: readonly (LimiterOptions & { name: string })[] = [
  { name: 'forgives', counting: false, retryAfter: false },
  { name: 'forgives, `Retry-After`', counting: false, retryAfter: true },
  { name: 'counts', counting: true, retryAfter: false },
  { name: 'counts, `Retry-After`', counting: true, retryAfter: true },
];

/** Enforces the documented limits in a sliding minute. */
export function slidingMinute({ counting, retryAfter }: LimiterOptions): Limiter {
  const sent = { all: [] as number[], read: [] as number[], create: [] as number[] };
  const limits = { all: ceilings.all, read: ceilings.reads, create: ceilings.creates };
  return (kind, now) => {
    const names = ['all', kind] as const;
    for (const name of names) while ((sent[name][0] ?? now) <= now - minute) sent[name].shift();
    const full = names.filter((name) => sent[name].length >= limits[name]);
    const allowed = full.length === 0;
    const free = full.map((name) => (sent[name].at(-limits[name]) ?? now) + minute - now);
    if (allowed || counting) for (const name of names) sent[name].push(now);
    return retryAfter && !allowed
      ? { allowed, retryAfter: Math.ceil(Math.max(second, ...free) / second) }
      : { allowed };
  };
}

/** A queue of events, soonest first; those of the same time in their order. */
export function timeline() {
  const events: { at: number; act: () => void }[] = [];
  return {
    push(at: number, act: () => void): void {
      let [low, high] = [0, events.length];
      while (low < high) {
        const middle = (low + high) >> 1;
        // The soonest event is the last one of the list.
        if ((events[middle]?.at ?? 0) > at) low = middle + 1;
        else high = middle;
      }
      events.splice(low, 0, { at, act });
    },
    pop: () => events.pop(),
  };
}

/** The totals of all gates; times in milliseconds. */
export interface Total {
  requests: number;
  reads: number;
  limited: number;
  /** Those of them that were reads of runs created before the trouble began. */
  limitedWithPlace: number;
  creates: number;
  createsLimited: number;
  /** Gates that did not observe the end of their run. */
  failures: number;
  /** From the end of a run to the end of its gate. */
  delays: number[];
  /** The same, but not before the service shows the end again. */
  delaysSinceReadable: number[];
  /** From the start of a gate to the response that its run was created. */
  createWaits: number[];
  /** When the last gate ended. */
  last: number;
  /** The most requests in any minute after the first two. */
  peak: number;
  /** When each gate sent its requests to create a run. */
  createdAt: number[][];
}

/** The shortest and the longest run by default, in milliseconds. */
const usualRunMs = [2 * minute, 8 * minute] as const;

/** Creates a world in which runs take a random time from their creation. */
export function world(limiter: Limiter, seed: number, size: number, runMs: RunTimes = usualRunMs) {
  const random = randomFrom(seed * 7919 + size);
  const events = timeline();
  const total: Total = {
    ...{ requests: 0, reads: 0, limited: 0, limitedWithPlace: 0, creates: 0, createsLimited: 0, failures: 0 },
    ...{ delays: [], delaysSinceReadable: [], createWaits: [] },
    ...{ last: 0, peak: 0, createdAt: Array.from({ length: size }, () => []) },
  };
  const late: number[] = [];
  let time = 0;
  const latency = () => 50 + random() * 200;

  function respond(kind: Kind, run: { endsAt: number }) {
    const { allowed, retryAfter } = limiter(kind, time);
    total.requests += 1;
    if (kind === 'read') total.reads += 1;
    if (!allowed) total.limited += 1;
    if (time >= 2 * minute) {
      late.push(time);
      while ((late[0] ?? time) <= time - minute) late.shift();
      total.peak = Math.max(total.peak, late.length);
    }
    if (kind === 'create') {
      total.creates += 1;
      if (allowed) run.endsAt = time + runMs[0] + random() * (runMs[1] - runMs[0]);
      else total.createsLimited += 1;
    }
    const state = !allowed ? 'limited' : time >= run.endsAt ? 'ended' : 'running';
    return { state, retryAfter } as const;
  }

  return {
    random,
    events,
    total,
    now: () => time,
    /** Sends one request; `onResponse` is called when its response arrives. */
    send(
      kind: Kind,
      run: { endsAt: number },
      onResponse: (response: ReturnType<typeof respond>) => void,
    ): void {
      const oneWay = latency() / 2;
      events.push(time + oneWay, () => {
        const response = respond(kind, run);
        events.push(time + oneWay, () => onResponse(response));
      });
    },
    /** Records the end of a gate. @param readableAt when the service could show the end of every run */
    ended(run: { endsAt: number }, passed: boolean, readableAt = 0): void {
      if (passed) {
        total.delays.push(time - run.endsAt);
        total.delaysSinceReadable.push(time - Math.max(run.endsAt, readableAt));
      } else total.failures += 1;
      total.last = Math.max(total.last, time);
    },
    /** Plays the next event; returns false if there are no more. */
    step(): boolean {
      const event = events.pop();
      if (event === undefined) return false;
      time = event.at;
      event.act();
      return true;
    },
  };
}

export type World = ReturnType<typeof world>;

const epoch = 1_768_478_400_000;

function clockOf({ events, now }: World): Clock {
  return {
    now: () => epoch + now(),
    monotonic: now,
    sleep: (ms, signal) =>
      new Promise((resolve, reject) => {
        if (signal?.aborted === true) return reject(signal.reason);
        const stop = () => reject(signal?.reason);
        signal?.addEventListener('abort', stop, { once: true });
        if (ms === Number.POSITIVE_INFINITY) return;
        events.push(now() + Math.max(0, ms), () => {
          signal?.removeEventListener('abort', stop);
          resolve();
        });
      }),
  };
}

const json = (status: number, value: unknown, headers: Record<string, string> = {}): RawReply => ({
  ...{ status, text: JSON.stringify(value) },
  headers: { 'content-type': 'application/json', ...headers },
});

const states = { running: 'in_progress', ended: 'completed' } as const;

/** Milliseconds from the end of a run to its delivery; null where it is lost. */
function deliveryAfter(deliveries: Deliveries | undefined, random: () => number): number | null {
  if (deliveries === '30 s late') return 30 * second;
  if (deliveries === 'chaos') {
    const late = random();
    if (late < 0.2) return (late < 0.1 ? 20 : 8) * second;
  }
  const lost = deliveries === 'none' || (deliveries === '10 % lost' && random() < 0.1);
  return lost ? null : 200 + random() * 800;
}

/** A fault of every request that creates a run until a certain time. `lost`: the run is created, but its response never arrives. */
export interface Outage {
  fault: '500' | 'reset' | 'lost' | 'stall';
  untilMs: number;
}

/** Plays a request that creates a run during an outage. */
async function fail({ fault }: Outage, limitMs: number, clock: Clock): Promise<RawReply> {
  await clock.sleep(fault === 'stall' ? limitMs : 100);
  if (fault === '500') return json(500, { error: 'out of order' });
  throw new NetworkError('broken', 'no response');
}

interface SimulatedRun {
  endsAt: number;
  /** Whether it was created before the trouble began. */
  createdBefore?: boolean;
}

function serviceOf(
  within: World,
  { outage, limiter, hub }: Gates,
  index: number,
  { run, trouble, onCreate }: { run: SimulatedRun; trouble: TroubleState; onCreate: () => void },
): Transport {
  const runId = `run_${index}`;
  const failed = fails(outage, index) ? 1 : 0;
  return {
    send: ({ method }, { timeoutMs }) =>
      new Promise((resolve, reject) => {
        const kind = method === 'POST' ? 'create' : 'read';
        if (kind === 'create') within.total.createdAt[index]?.push(within.now());
        if (outage !== undefined && kind === 'create') {
          const isOut = within.now() < outage.untilMs;
          // The same key returns the same run.
          if ((!isOut || outage.fault === 'lost') && run.endsAt === Number.POSITIVE_INFINITY)
            run.endsAt = within.now() + (1 + within.random()) * minute;
          if (isOut && limiter('create', within.now()).allowed)
            return fail(outage, timeoutMs, clockOf(within)).then(resolve, reject);
        }
        const { endsAt } = run;
        const status = trouble.status();
        if (status !== null) {
          within.total.requests += 1;
          const respond = async () => {
            await clockOf(within).sleep(100);
            return json(status, { error: 'out of order' });
          };
          return respond().then(resolve, reject);
        }
        within.send(kind, run, ({ state, retryAfter }) => {
          if (outage !== undefined) run.endsAt = endsAt;
          const headers: Record<string, string> =
            retryAfter === undefined ? {} : { 'retry-after': String(retryAfter) };
          if (state === 'limited' && run.createdBefore === true) within.total.limitedWithPlace += 1;
          if (state === 'limited') resolve(json(429, { error: 'too many requests' }, headers));
          else if (kind === 'create') {
            if (hub === 'chaos' && index % 6 === 5) run.endsAt = within.now();
            onCreate();
            resolve(json(201, { runId }));
          } else resolve(json(200, { state: states[state], failed, blocked: 0 }));
        });
      }),
    async close() {},
  };
}

/** How reliable the deliveries at the end of a run are. `chaos`: some are late, and every sixth run ends as it is created. */
export type Deliveries = 'reliable' | '10 % lost' | '30 s late' | 'none' | 'chaos';

export interface Gates {
  /** Uses one hub for all gates, with these deliveries. */
  hub?: Deliveries;
  size: number;
  seed: number;
  limiter: Limiter;
  timeoutMs: number;
  maxAttempts: number;
  /** Whether the service also delivers a webhook when a run starts. */
  startEvents?: boolean | undefined;
  /** All gates start within this time, in milliseconds; default 10 s. */
  startWithinMs?: number | undefined;
  /** When each gate starts, in milliseconds, instead of that. */
  startsMs?: readonly number[] | undefined;
  /** Default 2 to 8 minutes. */
  runMs?: RunTimes | undefined;
  trouble?: Trouble | undefined;
  proxy?: SlowProxy | undefined;
  /** Runs then take 1 to 2 minutes, and every fourth one fails. */
  outage?: Outage | undefined;
}

const fails = (outage: Outage | undefined, index: number) => outage !== undefined && index % 4 === 3;

const strict: Policy = {
  passed: 'pass',
  flaky: 'warn',
  failed: 'fail',
  blocked: 'fail',
  cancelled: 'fail',
  timeout: 'fail',
  unobserved: 'fail',
  mismatch: 'fail',
};

/**
 * Returns the client of a hub in the same process, whose requests take as long as those of the service.
 */
function hubClient(hub: Hub, clock: Clock): HubClient {
  const wayMs = 50;
  return {
    async follow(runIds, lastId, onEvent, signal) {
      await clock.sleep(wayMs, signal);
      onEvent({ type: 'ready' });
      const end = hub.wakes.subscribe(runIds, Number(lastId ?? 0), ({ id, at }) =>
        onEvent({ type: 'wake', runId: id, id: String(at) }),
      );
      await clock.sleep(Number.POSITIVE_INFINITY, signal).finally(end);
    },
    async grant(request, signal) {
      await clock.sleep(wayMs, signal);
      await hub.scheduler.grant(request, signal);
      await clock.sleep(wayMs, signal);
      return { granted: true };
    },
    limited: (retryAfterMs) => hub.budget.reduce(retryAfterMs),
    async sent({ reads, creates }) {
      if (reads.length > 0) await hub.budget.report('read', reads);
      if (creates.length > 0) await hub.budget.report('create', creates);
    },
  };
}

async function gate(
  within: World,
  options: Gates,
  index: number,
  hub: { hub: Hub; client: HubClient } | null,
  trouble: TroubleState,
): Promise<void> {
  const run: SimulatedRun = { endsAt: Number.POSITIVE_INFINITY };
  const runId = `run_${index}`;
  const clock = clockOf(within);
  const { random, now } = within;
  const startedAt = now();
  const onCreate = () => {
    within.total.createWaits.push(now() - startedAt);
    run.createdBefore = !trouble.hasBegun();
    trouble.onCreate();
    const lateMs = deliveryAfter(options.hub, random);
    const deliver = () => {
      // A delivery to a hub that is gone is lost.
      if (!trouble.reach().aborted) hub?.hub.wakes.announce([runId]);
    };
    if (lateMs !== null) within.events.push(run.endsAt + lateMs, deliver);
    if (options.startEvents === true) within.events.push(now() + 200 + random() * 800, deliver);
  };
  const transport = serviceOf(within, options, index, { run, trouble, onCreate });
  const links =
    hub &&
    new HubLinks(behind(hub.client, { trouble, proxy: options.proxy, clock, random }), {
      clock,
      random,
      silenceMs: Number.POSITIVE_INFINITY,
    });
  const caller = createCaller(
    { apiUrl: 'https://service.example', apiKey: 'key', clock, random, transport },
    nameInCommands,
  );
  const body = { projectSlug: 'shop', processSlug: 'checkout' };
  const { timeoutMs, maxAttempts } = options;
  const own = {
    ...{ name: unnamed, needs: [], advisory: false, settings: null },
    rules: { policy: strict, intervalMs: 10 * second, timeoutMs, maxAttempts },
    start: { body, chain: chainOf({ key: runId, trust: 'random' }, 1) },
  };
  const report = await runPlan(
    {
      ...{ gates: [own], failFast: false, shortestMs: second },
      ...{ cancelOnInterrupt: false, cancelOnTimeout: false, cancelReason: () => '' },
    },
    {
      ...{ service: runService(caller, clock.now), clock, random, onStop: () => () => {} },
      nameOf: nameInCommands,
      ...(links !== null && { linkHub: (user) => links.open(user) }),
    },
  ).then(
    (result) => oneGate(result),
    () => null,
  );
  links?.close();
  const verdict = fails(options.outage, index) ? 'failed' : 'passed';
  const passed = report?.runs[0]?.verdict === verdict && now() >= run.endsAt;
  within.ended(run, passed, trouble.readableAt());
}

/** Plays gates to their end. */
export async function simulateGates(options: Gates): Promise<Total> {
  const within = world(options.limiter, options.seed, options.size, options.runMs);
  const trouble = troubleOf(options.trouble, options.size, within);
  const gates: Promise<void>[] = [];
  const clock = clockOf(within);
  const limits = { reads: 48, creates: 16, requests: 80 };
  const start = () => {
    const hub = memoryHub(limits, clock, true);
    return { hub, client: hubClient(hub, clock) };
  };
  const hub = options.hub === undefined ? null : start();
  const { size, startsMs, startWithinMs = 10 * second } = options;
  for (let index = 0; index < size; index += 1) {
    const startMs = startsMs?.[index] ?? within.random() * startWithinMs;
    within.events.push(startMs, () => gates.push(gate(within, options, index, hub, trouble)));
  }
  // Let everything that an event triggered finish before the next one.
  while (within.step()) await new Promise((resolve) => setImmediate(resolve));
  await Promise.all(gates);
  return within.total;
}
