import { seededRandom } from '../../src/mock/random.ts';
import type { Backend, Later } from '../slice/machine.ts';
import { type ModelRequest, type ModelResponse, modelService, type ServiceRun } from '../slice/service.ts';
import type { World } from './world.ts';

/**
 * The fate of a request. `lost`: the service acts on it, but the response never arrives. `late-503`: it acts on it, and responds with 503.
 * `slow`: the response takes up to 40 s. `odd state`: the status is one that the API does not list. `page`: something
 * else responds with HTML; only with 200, the request arrives.
 */
export type Fate =
  | 'ok'
  | 'lost'
  | 'dropped'
  | 'late-503'
  | '503'
  | '429'
  | 'slow'
  | 'odd state'
  | '401 page'
  | '403 page'
  | '404 page'
  | '502 page'
  | '200 page'
  | 'redirect';

export const apiKey = 'key-of-user';
/** A service may repeat the credentials of a request in its errors. */
const errorBody = { error: `not now: X-API-Key ${apiKey}` };
const page = (status: number): ModelResponse => ({
  status,
  body: '<html>Sign in</html>',
  headers: { 'content-type': 'text/html' },
});

/** Two runs of one gate in progress. */
export interface Overlap {
  run: ServiceRun;
  other: ServiceRun;
}

export interface SimulatedService extends Backend {
  readonly runs: readonly ServiceRun[];
  /** By run: the processes that were shown the run in progress. */
  readonly seen: ReadonlyMap<string, ReadonlySet<string>>;
  readonly overlaps: readonly Overlap[];
  /** The times of the requests that create or read a run, by process. */
  readonly sent: ReadonlyMap<string, { creates: number[]; reads: number[] }>;
  /** Says which command begins. */
  begin(command: number): void;
  faults(): number;
  /** Ends all faults. */
  recover(): void;
}

/** The service of a world. It logs each request with its fate. */
export function simulatedService(world: World, log: (line: string) => void): SimulatedService {
  const random = seededRandom(world.seed + 1);
  const courses = Object.fromEntries(world.gates.map(({ name, courses }) => [name, courses]));
  const inner = modelService({ courses, saysReplayed: world.saysReplayed, latencies: world.latencies });
  const seen = new Map<string, Set<string>>();
  const overlaps: Overlap[] = [];
  const sent = new Map<string, { creates: number[]; reads: number[] }>();
  const numbers = new Map<string, number>();
  let [faults, command, isWell] = [0, 0, false];

  const fateOf = (now: number): Fate => {
    if (isWell) return 'ok';
    if (world.outages.some(({ from, to }) => now >= from && now < to)) return 'dropped';
    if (random() >= world.faultRate) return 'ok';
    return world.fates[Math.floor(random() * world.fates.length)] ?? 'ok';
  };
  const record = ({ path, method, by }: ModelRequest, now: number) => {
    const own = sent.get(by) ?? { creates: [], reads: [] };
    sent.set(by, own);
    if (!numbers.has(by)) numbers.set(by, command);
    if (path === '/api/ci/runs') own.creates.push(now);
    else if (method === 'GET') own.reads.push(now);
  };
  /** The service acts on the request. */
  const act = (request: ModelRequest, now: number): ModelResponse => {
    const before = inner.runs.length;
    const run = inner.runs.find(({ id }) => id === request.path.split('/')[4]);
    if (run !== undefined && now - run.createdAt < world.invisibleMs)
      return { status: 404, body: { error: 'no such run' } };
    const response = inner.handle(request, now);
    const created = inner.runs.at(-1);
    if (inner.runs.length > before && created !== undefined)
      for (const other of inner.runs)
        if (other !== created && other.gate === created.gate && other.endsAt > now)
          overlaps.push({ run: created, other });
    return response;
  };
  const answer = (fate: Fate, request: ModelRequest, now: number): ModelResponse | Later => {
    switch (fate) {
      case 'dropped':
        return null;
      case '503':
        return { status: 503, body: errorBody };
      case '429':
        return {
          status: 429,
          body: errorBody,
          headers: { 'retry-after': String(1 + Math.floor(random() * 20)) },
        };
      case 'redirect':
        return { status: 302, body: '', headers: { location: 'https://login.test/' } };
      case '401 page':
      case '403 page':
      case '404 page':
      case '502 page':
        return page(Number(fate.slice(0, 3)));
    }
    const response = act(request, now);
    if (fate === '200 page') return page(200);
    if (fate === 'lost') return null;
    if (fate === 'late-503') return { status: 503, body: errorBody };
    if (fate === 'slow') return { at: now + Math.floor(random() * 40_000), respond: () => response };
    const body = response?.body as { state?: string } | undefined;
    if (body?.state === undefined) return response;
    if (fate === 'odd state') return { status: 200, body: { ...body, state: 'warming_up' } };
    return response;
  };
  const say = ({ method, path, headers, by }: ModelRequest, fate: Fate, answered: ModelResponse | Later) => {
    const response = answered !== null && 'respond' in answered ? answered.respond() : answered;
    const body = Object(response?.body) as { runId?: string; state?: string };
    const result =
      response === null ? 'no response' : [response.status, body.runId, body.state].filter(Boolean).join(' ');
    const what =
      path === '/api/ci/runs'
        ? `creates with key ${headers['idempotency-key']?.slice(0, 8)}`
        : method === 'GET'
          ? `reads ${path.split('/')[4]}`
          : `cancels ${path.split('/')[4]}`;
    log(`  #${numbers.get(by)} ${what}: ${result}${fate === 'ok' ? '' : ` (${fate})`}`);
    if (method === 'GET' && body.state === 'in_progress' && response !== null) {
      const id = body.runId ?? '';
      seen.set(id, (seen.get(id) ?? new Set()).add(by));
    }
  };
  return {
    runs: inner.runs,
    seen,
    overlaps,
    sent,
    begin(number) {
      command = number;
    },
    faults: () => faults,
    recover() {
      isWell = true;
    },
    latency: inner.latency,
    handle(request, now) {
      const fate = fateOf(now);
      if (fate !== 'ok') faults += 1;
      record(request, now);
      const answered = answer(fate, request, now);
      say(request, fate, answered);
      return answered;
    },
  };
}
