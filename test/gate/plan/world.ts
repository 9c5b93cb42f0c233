import { expect } from 'vitest';
import type { Exchange } from '../../../src/client/caller.ts';
import type { StopCause } from '../../../src/errors.ts';
import { HttpError, NetworkError } from '../../../src/errors.ts';
import { chainOf } from '../../../src/gate/chain.ts';
import type { PlanNode } from '../../../src/gate/plan/graph.ts';
import { type PlanEvent, type PlannedGate, severalGates } from '../../../src/gate/plan/plan.ts';
import { runPlan } from '../../../src/gate/plan/run-plan.ts';
import { resolvePolicy } from '../../../src/gate/policy.ts';
import type { GatesReport } from '../../../src/gate/result-types.ts';
import type { RunService } from '../../../src/gate/service.ts';
import { virtualTime } from '../../virtual-time.ts';
import { rulesOf } from '../rules.ts';

/** How one run of a gate goes. */
export interface Course {
  end: 'passed' | 'failed' | 'blocked' | 'cancelled' | 'stuck';
  seconds: number;
  /** The fate of the request that creates the run. `lost`: the run exists, but the response never arrives. */
  create: 'ok' | 'slow' | '422' | '503' | 'lost';
  /** The status codes of the first reads; 200 is a read that succeeds. */
  reads: readonly number[];
  cancel: 'ok' | 'refused' | 'hangs';
}

interface WorldRun {
  id: string;
  key: string;
  gate: string;
  createdAt: number;
  endsAt: number;
  cancelledAt: number | null;
  course: Course;
  reads: number;
}

export interface WorldOptions {
  nodes: readonly PlanNode[];
  courses: Readonly<Record<string, readonly Course[]>>;
  failFast?: boolean;
  retries?: number;
  strict?: boolean;
  timeoutMs?: number;
  intervalMs?: number;
  stop?: { at: number; by: StopCause } | null;
  /** The time that the subscription to the hub takes, in milliseconds; default: there is no hub. */
  hubMs?: number;
  /** The service has one run for all gates. */
  oneRun?: boolean;
}

const counts = { passed: [0, 0], failed: [2, 0], blocked: [0, 1], cancelled: [0, 0], stuck: [0, 0] } as const;

/** Runs gates against a service in memory, on a virtual clock. */
export async function world(options: WorldOptions) {
  const { nodes, courses, failFast = false, retries = 0, strict = false, stop = null } = options;
  const { timeoutMs = 15 * 60_000, intervalMs = 10_000, hubMs } = options;
  const time = virtualTime();
  const { clock } = time;
  const now = () => clock.monotonic();
  const runs: WorldRun[] = [];
  const byKey = new Map<string, WorldRun>();
  const triesOf = new Map<string, number>();
  const [reads, creates]: [number[], number[]] = [[], []];
  const events: (PlanEvent & { at: number })[] = [];

  const response = (value: unknown): Exchange => ({
    value,
    text: JSON.stringify(value),
    headers: {},
    status: 200,
    request: '',
    mismatches: [],
    isJson: true,
    requests: 1,
    elapsedMs: 0,
    redact: (text) => text,
  });
  const courseOf = (gate: string) => {
    const own = courses[gate] ?? [];
    return own[Math.min(runs.filter((run) => run.gate === gate).length, own.length - 1)] as Course;
  };
  const create = (gate: string, key: string, course: Course): WorldRun => {
    const known = byKey.get(key) ?? (options.oneRun === true ? runs[0] : undefined);
    if (known !== undefined) return known;
    const endsAt = course.end === 'stuck' ? Number.POSITIVE_INFINITY : now() + course.seconds * 1000;
    const id = `run-${gate}-${runs.length}`;
    const run = { id, key, gate, createdAt: now(), endsAt, cancelledAt: null, course, reads: 0 };
    byKey.set(key, run);
    runs.push(run);
    return run;
  };
  const hasEnded = (run: WorldRun) => run.cancelledAt !== null || run.endsAt <= now();

  const service: RunService = {
    async trigger(body, { idempotencyKey = '', signal, timeoutMs: limit = 30_000 }) {
      const gate = String((body as { processSlug: string }).processSlug);
      creates.push(now());
      triesOf.set(gate, (triesOf.get(gate) ?? 0) + 1);
      const course = byKey.get(idempotencyKey)?.course ?? courseOf(gate);
      if (course.create === '422') throw new HttpError('invalid', { status: 422 });
      if (course.create === '503') {
        await clock.sleep(Math.min(3_000, limit), signal);
        throw new HttpError('down', { status: 503 });
      }
      await clock.sleep(course.create === 'slow' ? 1_500 : 20, signal);
      const replayed = byKey.has(idempotencyKey);
      const run = create(gate, idempotencyKey, course);
      if (course.create === 'lost') {
        await clock.sleep(Math.min(30_000, limit), signal);
        throw new NetworkError('broken', 'no response');
      }
      return { ...response({ runId: run.id }), headers: { 'idempotency-replayed': String(replayed) } };
    },
    async read(runId, { signal }) {
      reads.push(now());
      const run = runs.find(({ id }) => id === runId) as WorldRun;
      const status = run.course.reads[run.reads] ?? 200;
      run.reads += 1;
      await clock.sleep(20, signal);
      if (status !== 200) throw new HttpError(`HTTP ${status}`, { status });
      const appUrl = null;
      if (!hasEnded(run)) {
        const going = { state: 'in_progress', failed: 0, blocked: 0, appUrl, retryAfterSeconds: null };
        return { reading: { kind: 'running', known: true, ...going } };
      }
      const cancelled = run.cancelledAt !== null || run.course.end === 'cancelled';
      const [failed, blocked] = run.cancelledAt !== null ? [0, 0] : counts[run.course.end];
      const ended = { state: cancelled ? 'cancelled' : 'completed', failed, blocked, appUrl } as const;
      return { reading: { kind: 'ended', ...ended } };
    },
    hasEnded: () => expect.fail('not expected'),
    async cancel(runId, _reason, { signal, timeoutMs: limit = 30_000 }) {
      const run = runs.find(({ id }) => id === runId) as WorldRun;
      if (run.course.cancel === 'hangs') {
        await clock.sleep(limit, signal);
        throw new NetworkError('deadline', 'no response');
      }
      await clock.sleep(30, signal);
      if (run.course.cancel === 'refused') throw new HttpError('no', { status: 409 });
      run.cancelledAt = now();
      return response({});
    },
  };

  const gates = nodes.map(
    (node): PlannedGate => ({
      ...node,
      settings: null,
      start: {
        body: { projectSlug: 'shop', processSlug: node.name },
        chain: chainOf({ key: `key of ${node.name}`, trust: 'job' }, 1),
      },
      rules: rulesOf({ policy: resolvePolicy({ strict }), intervalMs, timeoutMs, retries }),
    }),
  );
  const links = { open: 0 };
  let settled: { report: GatesReport } | { error: unknown } | null = null;
  let endedAt = 0;
  let random = 1;
  const done = runPlan(
    {
      gates,
      failFast,
      shortestMs: 1000,
      cancelOnInterrupt: true,
      cancelOnTimeout: true,
      cancelReason: () => 'why',
    },
    {
      service,
      clock,
      random: () => {
        random = (random * 16_807) % 2_147_483_647;
        return random / 2_147_483_647;
      },
      onStop(listener) {
        if (stop !== null) time.at(stop.at, () => listener(stop.by));
        return () => {};
      },
      linkHub() {
        if (hubMs === undefined) return undefined;
        links.open += 1;
        return {
          async watch() {},
          granted: (_kind, _runId, signal) => clock.sleep(hubMs, signal),
          onWake: () => () => {},
          limited() {},
          close() {
            links.open -= 1;
          },
        };
      },
      emit(event) {
        events.push({ ...event, at: now() });
      },
    },
  ).then(
    (result) => {
      settled = { report: severalGates(result) };
      endedAt = now();
    },
    (error: unknown) => {
      settled = { error };
    },
  );
  const isDone = () => settled !== null;
  for (let hours = 0; hours < 24 && !isDone(); hours += 1) await time.run(3_600_000);
  if (isDone()) await done;
  return { settled, endedAt, runs, reads, creates, events, hasEnded, links };
}

/** Returns the largest number of times in any minute. */
export function mostInAMinute(times: readonly number[]): number {
  return Math.max(
    0,
    ...times.map((at, index) => times.slice(index).filter((other) => other < at + 60_000).length),
  );
}
