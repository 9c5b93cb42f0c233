/** How a run ends. `never`: it does not. */
export interface Course {
  end: 'passed' | 'failed' | 'blocked' | 'cancelled' | 'never';
  seconds: number;
}

export interface ServiceOptions {
  /** The courses of the runs of each gate, in order; the last one is that of all others. */
  courses: Readonly<Record<string, readonly Course[]>>;
  /** Whether it repeats the response to a request with a known key; default true. */
  honoursKeys?: boolean;
  /** How long it keeps a key, in milliseconds; default: for ever. */
  keepsKeysMs?: number;
  /** Whether it says that it repeats a response; default true. */
  saysReplayed?: boolean;
  /** The times that requests and responses take, in milliseconds, in turns. */
  latencies?: readonly number[];
}

export interface ServiceRun {
  id: string;
  key: string;
  /** The process that created it. */
  by: string;
  gate: string;
  body: Record<string, unknown>;
  createdAt: number;
  endsAt: number;
  end: Course['end'];
}

export interface ModelRequest {
  origin: string;
  method: string;
  path: string;
  headers: Readonly<Record<string, string>>;
  body: string;
  /** The process that sent it. */
  by: string;
}

/** Null: the connection breaks. */
export type ModelResponse = { status: number; body: unknown; headers?: Record<string, string> } | null;

export interface Service {
  readonly runs: ServiceRun[];
  latency(): { uploadMs: number; downloadMs: number };
  handle(request: ModelRequest, now: number): ModelResponse;
}

const counts = { passed: [0, 0], failed: [2, 0], blocked: [0, 1], cancelled: [0, 0], never: [0, 0] } as const;

/** A service in memory that records every run with its key. */
export function modelService(options: ServiceOptions): Service {
  const { courses, honoursKeys = true, saysReplayed = true, latencies = [50] } = options;
  const { keepsKeysMs = Number.POSITIVE_INFINITY } = options;
  const runs: ServiceRun[] = [];
  let sent = 0;
  const nextLatency = () => latencies[sent++ % latencies.length] ?? 50;

  const create = ({ gate, key, by, body }: Pick<ServiceRun, 'gate' | 'key' | 'by' | 'body'>, now: number) => {
    const own = courses[gate] ?? [];
    const earlier = runs.filter((run) => run.gate === gate);
    const course = own[Math.min(earlier.length, own.length - 1)] ?? { end: 'passed', seconds: 30 };
    const endsAt = course.end === 'never' ? Number.POSITIVE_INFINITY : now + course.seconds * 1000;
    const id = `run_${gate}_${earlier.length}`;
    const run: ServiceRun = { id, key, by, gate, body, createdAt: now, endsAt, end: course.end };
    runs.push(run);
    return run;
  };
  const handle = ({ method, path, headers, body, by }: ModelRequest, now: number): ModelResponse => {
    if (path === '/api/ci/runs') {
      const given = JSON.parse(body) as ServiceRun['body'];
      const gate = String(given.processSlug);
      const key = headers['idempotency-key'] ?? '';
      const isKept = (run: ServiceRun) => honoursKeys && run.key === key && now - run.createdAt < keepsKeysMs;
      const known = runs.find(isKept);
      const run = known ?? create({ gate, key, by, body: given }, now);
      const replayed = { 'idempotency-replayed': String(known !== undefined) };
      const response = { runId: run.id, appUrl: `https://app.test/runs/${run.id}` };
      return { status: 201, body: response, headers: saysReplayed ? replayed : {} };
    }
    const id = path.split('/')[4];
    const run = runs.find((known) => known.id === id);
    if (run === undefined) return { status: 404, body: { error: 'no such run' } };
    if (method === 'POST') {
      if (run.endsAt > now) Object.assign(run, { end: 'cancelled', endsAt: now });
      return { status: 200, body: {} };
    }
    const hasEnded = run.endsAt <= now;
    const state = !hasEnded ? 'in_progress' : run.end === 'cancelled' ? 'cancelled' : 'completed';
    const [failed, blocked] = hasEnded ? counts[run.end] : [0, 0];
    return { status: 200, body: { runId: run.id, state, failed, blocked } };
  };
  const latency = () => ({ uploadMs: nextLatency(), downloadMs: nextLatency() });
  return { runs, latency, handle };
}
