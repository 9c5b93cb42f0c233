import type { Later } from '../slice/machine.ts';
import type { Course, ModelRequest, ModelResponse } from '../slice/service.ts';

/** `lost`: the service acts, but the response never arrives. `dropped`: the request never arrives. `late-503`: it acts, and says 503. `refused`: 422. */
export type Fate = 'ok' | 'refused' | 'lost' | 'dropped' | 'late-503';

interface Variable {
  id: string;
  name: string;
  value: string;
}

export interface Environment {
  id: string;
  fields: Record<string, unknown>;
  key: string;
  variables: Variable[];
  /** The process that created it; null for one that exists before. */
  by: string | null;
  createdAt: number;
  deletedAt: number;
  /** Whether it was created later than its request arrived, after the sender may have given up. */
  isLate: boolean;
}

export interface Run {
  id: string;
  key: string;
  by: string;
  gate: string;
  /** Undefined: none had the key. */
  environment: Environment | undefined;
  environmentKey: string;
  createdAt: number;
  endsAt: number;
  end: Course['end'];
  cancelledAt: number;
}

export type Request = ModelRequest & { at: number; fate: Fate; status: number | null };

export interface ServiceOptions {
  /** The courses of the runs of each gate, in order; the last one is that of all others. */
  courses?: Readonly<Record<string, readonly Course[]>>;
  latencies?: readonly number[];
  /** How long after their requests the environments are created, in turns, in milliseconds. */
  commits?: readonly number[];
  /** Whether two environments cannot have one key; default true. */
  uniqueKeys?: boolean;
  /** How old the list of the environments may be, in milliseconds. */
  listAgeMs?: number;
  /** When the deployments begin to respond. */
  readyAt?: number;
  fate?: (request: ModelRequest, index: number) => Fate;
  /** The limits of requests a minute; default: none. */
  limits?: { reads: number; creates: number; all: number } | null;
}

export const origin = 'https://service.test';
const pageSize = 20;
const minuteMs = 60_000;
const never = Number.POSITIVE_INFINITY;
const counts = { passed: [0, 0], failed: [2, 0], blocked: [0, 1], cancelled: [0, 0], never: [0, 0] } as const;
const json = (status: number, body: unknown, headers?: Record<string, string>) => ({
  ...{ status, body },
  ...(headers && { headers }),
});

export const isAlive = ({ createdAt, deletedAt }: Environment, at: number) =>
  createdAt <= at && at < deletedAt;
export const hasEnded = ({ endsAt, cancelledAt }: Run, at: number) => Math.min(endsAt, cancelledAt) <= at;

/** A service in memory with environments and runs, and the deployments that it tests. */
export function previewService(options: ServiceOptions = {}) {
  const { courses = {}, latencies = [50], commits = [0], uniqueKeys = true, listAgeMs = 0 } = options;
  const { readyAt = 0, fate: fateOf = () => 'ok' as const, limits = null } = options;
  const environments: Environment[] = [];
  const runs: Run[] = [];
  const requests: Request[] = [];
  const pages: ModelRequest[] = [];
  const admitted: { at: number; method: string }[] = [];
  let [sent, creates, ids] = [0, 0, 0];
  const nextId = (what: string) => `${what}_${++ids}`;
  const nextLatency = () => latencies[sent++ % latencies.length] ?? 50;
  const alive = (at: number) => environments.filter((one) => isAlive(one, at));

  const add = (fields: Record<string, unknown>, createdAt: number, by: string | null, isLate: boolean) => {
    const id = nextId('env');
    const one = {
      id,
      fields,
      key: String(fields.key),
      variables: [],
      by,
      createdAt,
      deletedAt: never,
      isLate,
    };
    environments.push(one);
    return one as Environment;
  };
  const shown = ({ id, fields }: Environment) => ({ id, ...fields });

  const createEnvironment = (body: string, by: string, arrivedAt: number): ModelResponse | Later => {
    const fields = JSON.parse(body) as Record<string, unknown>;
    const delay = commits[creates++ % commits.length] ?? 0;
    const commit = (): ModelResponse => {
      const at = arrivedAt + delay;
      if (uniqueKeys && alive(at).some(({ key }) => key === fields.key))
        return json(409, { error: 'the key is taken' });
      return json(201, shown(add(fields, at, by, delay > 0)));
    };
    return delay === 0 ? commit() : { at: arrivedAt + delay, respond: commit };
  };

  const pageOf = (at: number, query: URLSearchParams) => {
    const all = alive(at).filter(({ createdAt }) => createdAt <= at - listAgeMs || createdAt <= 0);
    const page = Number(query.get('page') ?? 1);
    const items = all.slice((page - 1) * pageSize, page * pageSize).map(shown);
    return json(200, {
      items,
      page,
      pageSize,
      totalCount: all.length,
      hasNextPage: page * pageSize < all.length,
    });
  };

  const actOnEnvironment = ({ method, path, body, by }: ModelRequest, at: number): ModelResponse | Later => {
    const url = new URL(path, origin);
    const [, , , id, part] = url.pathname.split('/');
    if (id === undefined)
      return method === 'GET' ? pageOf(at, url.searchParams) : createEnvironment(body, by, at);
    const one = alive(at).find((known) => known.id === id);
    if (one === undefined) return json(404, { error: 'no such environment' });
    if (part === undefined) {
      one.deletedAt = at;
      return json(200, {});
    }
    if (method === 'GET') return json(200, [...one.variables]);
    const { name, value } = JSON.parse(body) as Variable;
    if (one.variables.some((known) => known.name === name)) return json(409, { error: 'the name is taken' });
    const variable = { id: nextId('var'), name, value };
    one.variables.push(variable);
    return json(201, variable);
  };

  const createRun = ({ headers, body, by }: ModelRequest, at: number) => {
    const { processSlug, environmentKey = '' } = JSON.parse(body) as Record<string, string>;
    const key = headers['idempotency-key'] ?? '';
    const known = runs.find((run) => run.key === key);
    const gate = String(processSlug);
    const own = courses[gate] ?? [];
    const earlier = runs.filter((run) => run.gate === gate).length;
    const { end, seconds } = own[Math.min(earlier, own.length - 1)] ?? { end: 'passed', seconds: 30 };
    const endsAt = end === 'never' ? never : at + seconds * 1000;
    const environment = alive(at).find((one) => one.key === environmentKey);
    const fresh = { id: nextId('run'), key, by, gate, environment, environmentKey };
    const run = known ?? { ...fresh, createdAt: at, endsAt, end, cancelledAt: never };
    if (known === undefined) runs.push(run);
    const headersOfRun = { 'idempotency-replayed': String(known !== undefined) };
    return json(201, { runId: run.id, appUrl: `${origin}/runs/${run.id}` }, headersOfRun);
  };

  const actOnRun = (request: ModelRequest, at: number): ModelResponse => {
    const { method, path } = request;
    const id = path.split('/')[4];
    if (id === undefined) return createRun(request, at);
    const run = runs.find((one) => one.id === id);
    if (run === undefined) return json(404, { error: 'no such run' });
    if (method === 'POST') {
      if (!hasEnded(run, at)) run.cancelledAt = at;
      return json(200, {});
    }
    const state = !hasEnded(run, at) ? 'in_progress' : run.cancelledAt < never ? 'cancelled' : 'completed';
    const [failed, blocked] = state === 'completed' ? counts[run.end] : [0, 0];
    return json(200, {
      runId: id,
      state: run.end === 'cancelled' && state === 'completed' ? 'cancelled' : state,
      failed,
      blocked,
    });
  };

  /** Returns a refusal if the minute has too many requests. */
  const limit = (method: string, at: number): ModelResponse => {
    if (limits === null) return null;
    const recent = admitted.filter((one) => one.at > at - minuteMs);
    const kinds = [
      [limits.all, recent],
      [limits.reads, method === 'GET' ? recent.filter((one) => one.method === 'GET') : []],
      [limits.creates, method === 'POST' ? recent.filter((one) => one.method === 'POST') : []],
    ] as const;
    const full = kinds.filter(([most, used]) => used.length >= most);
    if (full.length === 0) {
      admitted.push({ at, method });
      return null;
    }
    const waitMs = Math.max(...full.map(([most, used]) => (used.at(-most)?.at ?? at) + minuteMs - at));
    return json(429, { error: 'limit' }, { 'retry-after': String(Math.ceil(waitMs / 1000)) });
  };

  return {
    ...{ environments, runs, requests, pages },
    /** Adds an environment of someone else. */
    plant: (fields: Record<string, unknown>, variables: Record<string, string> = {}) => {
      const one = add(fields, -1, null, false);
      for (const [name, value] of Object.entries(variables))
        one.variables.push({ id: nextId('var'), name, value });
      return one;
    },
    latency: () => ({ uploadMs: nextLatency(), downloadMs: nextLatency() }),
    handle(request: ModelRequest, at: number): ModelResponse | Later {
      if (request.origin !== origin) {
        pages.push(request);
        return json(at >= readyAt ? 200 : 503, {});
      }
      const fate = fateOf(request, requests.length);
      const entry: Request = { ...request, at, fate, status: null };
      requests.push(entry);
      if (fate === 'dropped') return null;
      if (fate === 'refused') return json(422, { error: 'invalid' });
      const shown = (response: ModelResponse) => {
        entry.status = response?.status ?? null;
        if (fate === 'lost') return null;
        return fate === 'late-503' ? json(503, { error: 'down' }) : response;
      };
      const isEnvironment = request.path.startsWith('/api/environments');
      const response =
        limit(request.method, at) ?? (isEnvironment ? actOnEnvironment(request, at) : actOnRun(request, at));
      if (response === null || !('respond' in response)) return shown(response);
      const { at: committedAt, respond } = response;
      return { at: committedAt, respond: () => shown(respond()), broken: fate === 'lost' };
    },
  };
}

export type PreviewService = ReturnType<typeof previewService>;
