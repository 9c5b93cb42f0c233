import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { getRequestListener, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { systemClock } from '../clock.ts';
import { UsageError } from '../errors.ts';
import { excerpt } from '../sanitize.ts';
import { createApp } from './app.ts';
import { automationScopes } from './auth.ts';
import { seededApiKey, seededToken } from './credentials.ts';
import { homeTenant } from './data/account.ts';
import { createSender, type Sender } from './deliveries.ts';
import { type Exchange, type RecordedRequest, readExchange, recordOf } from './exchange.ts';
import { controlFaults, controlPath } from './faults/control.ts';
import { createFaults, type Faults, playFault } from './faults/faults.ts';
import { createWire } from './faults/wire.ts';
import { handlers } from './handlers/index.ts';
import { listen } from './listen.ts';
import { isLoopbackAddress, namesThisHost } from './local.ts';
import type { ServerOptions } from './options.ts';
import { seededRandom, streamSeed } from './random.ts';
import { documentedBudget, noBudget } from './rate-limit.ts';
import { MockError } from './reply.ts';
import { announceEnd } from './runs.ts';
import { createState, type State } from './state.ts';

export type { DataSizes } from './data/account.ts';
export type { RecordedRequest } from './exchange.ts';
export type { Fault } from './faults/faults.ts';
export type { MockOptions, ServerOptions } from './options.ts';
export { type Counts, type Outcome, outcomes } from './outcomes.ts';

/** A running mock of the service. */
export interface Mock {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly apiKey: string;
  readonly token: string;
  readonly state: State;
  /** What came over the wire, oldest first; the last 10,000. */
  readonly requests: readonly RecordedRequest[];
  readonly faults: Faults;
  /** Resolves once no webhook delivery is under way. */
  deliveriesSent(): Promise<void>;
  /** Stops listening and breaks what is still open, so that it never waits for a client. */
  close(): Promise<void>;
}

const keptRequests = 10_000;

/** The one tenant that both credentials belong to; tests may add others to `state.credentials`. */
const tenant = homeTenant;

/** Knows a key from the start, as if somebody had created it. */
function addKey(state: State, apiKey: string): void {
  const key = { id: state.nextId('key'), tenant, name: 'Pipeline', scopes: automationScopes, apiKey };
  state.keys.set(key.id, { ...key, createdAt: new Date(state.clock.now()).toISOString() });
  state.credentials.set(apiKey, { kind: 'key', tenant, scopes: automationScopes });
}

function stateFrom(options: ServerOptions): { state: State; sender: Sender; stop(): void } {
  const { outcome = 'passed' } = options;
  const outcomes = typeof outcome === 'string' ? [outcome] : outcome;
  if (outcomes.length === 0) throw new UsageError('the mock needs at least one outcome');
  const plan = {
    outcomes,
    durationMs: options.duration ?? 2000,
    counts: options.counts,
    retryAfterSeconds: options.retryAfterSeconds,
    appUrlBase: options.appUrlBase ?? 'https://app.example.test',
  };
  const clock = options.clock ?? systemClock;
  const scope = options.deliveries ?? 'off';
  const sender = createSender(scope, clock, options.tenantSecret);
  const ending = new AbortController();
  // A listener for each run that goes on: many are no leak.
  setMaxListeners(0, ending.signal);
  const state = createState(options.seed ?? 1, clock, plan, {
    data: options.data,
    deliver: options.deliver ?? sender.deliver,
    watchRun(run) {
      // Without anybody to tell, the end of a run is found by whoever asks: no time needs to pass here.
      if (scope === 'off' || run.outcome === 'stuck') return;
      clock.sleep(run.durationMs, ending.signal).then(
        () => announceEnd(state, run),
        () => {},
      );
    },
  });
  const stop = () => {
    ending.abort();
    sender.close();
  };
  return { state, sender, stop };
}

/** For what fails outside the app: a request that Hono cannot read (one without a host), or a fault of ours. */
function refuse(error: unknown): Response {
  const message = error instanceof Error ? error.message : String(error);
  const unread = error instanceof RequestError;
  const { status, body } = new MockError(
    unread ? 400 : 500,
    unread ? 'Bad request' : 'The mock failed',
    message,
  );
  return Response.json(body, { status });
}

/** For a request that was meant for another host. */
function misdirected({ headers: { host = '' } }: Exchange): Response {
  const remedy = 'use http://127.0.0.1, or start the mock with --allow-host <name>';
  const details = `the mock does not serve the host ${excerpt(host, 100)}: ${remedy}`;
  const { status, body } = new MockError(421, 'Misdirected request', details);
  return Response.json(body, { status });
}

/** Starts the service on a socket of this machine. It keeps the process alive until it is closed. */
export async function startMock(options: ServerOptions = {}): Promise<Mock> {
  const { host = '127.0.0.1', port = 0, seed = 1, tenantSecret, allowHosts = [] } = options;
  const { state, sender, stop } = stateFrom(options);
  const apiKey = options.apiKey ?? seededApiKey(seed);
  const token = options.token ?? seededToken(seed, tenant);
  addKey(state, apiKey);
  state.credentials.set(token, { kind: 'token', tenant });
  const app = createApp(
    state,
    handlers,
    options.rateLimit === 'documented' ? documentedBudget(state) : noBudget,
  );
  const monotonic = () => state.clock.monotonic();
  const faults = createFaults(monotonic, seededRandom(streamSeed(seed, 'faults')));
  for (const fault of options.faults ?? []) faults.add(fault);
  /** Connections that have carried a request. */
  const used = new WeakSet<Socket>();
  const requests: RecordedRequest[] = [];
  // Only `mock serve` has somebody to look at it.
  const page = options.page
    ? (await import('./page/console.ts')).createConsole({ state, faults, requests, tenantSecret })
    : undefined;

  async function respond(
    request: Request,
    exchange: Exchange,
    outgoing: ServerResponse,
    reused: boolean,
  ): Promise<Response> {
    const { path } = exchange;
    const isService = path !== controlPath && page?.owns(path) !== true;
    // Other machines may know this one, and the service on it, by any name.
    const anyName = isService && !isLoopbackAddress(listening.address);
    if (!anyName && !namesThisHost(exchange, ownNames)) return misdirected(exchange);
    if (path === controlPath) return controlFaults(exchange, faults);
    if (page?.owns(path)) return page.answer(exchange);
    const record = recordOf(exchange, state.clock.now());
    requests.push(record);
    if (requests.length > keptRequests) requests.shift();
    const sent = (status: number) => {
      record.status = status;
    };
    const handle = async () => {
      const response = await app.fetch(request, { exchange });
      await page?.saw(record, response);
      return response;
    };
    const fault = faults.take(record.endpoint);
    if (fault === undefined) {
      const response = await handle();
      sent(response.status);
      return response;
    }
    page?.spoiled(record, fault);
    const refuseFor = (ms: number) => {
      const end = monotonic() + ms;
      listening.pause(() => monotonic() >= end);
    };
    const parts = { target: exchange.target, reused, now: () => state.clock.now(), refuse: refuseFor };
    await playFault(fault, createWire(outgoing, { ...parts, handle, sent }));
    return RESPONSE_ALREADY_SENT;
  }

  async function onRequest(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    outgoing.setHeader('date', new Date(state.clock.now()).toUTCString());
    outgoing.setHeader('x-request-id', state.nextId('req'));
    const reused = used.has(incoming.socket);
    used.add(incoming.socket);
    const exchange = await readExchange(incoming);
    // Hono takes a name in lower case alone.
    if (incoming.headers.host !== undefined) incoming.headers.host = incoming.headers.host.toLowerCase();
    const listener = getRequestListener((request) => respond(request, exchange, outgoing, reused), {
      // The process is not ours alone: its Request and Response stay what they are.
      overrideGlobalObjects: false,
      autoCleanupIncoming: false,
      errorHandler: refuse,
    });
    await listener(incoming, outgoing);
  }

  const listening = await listen(
    (incoming, outgoing) => {
      // Fails only when the client goes away while it is being read: there is nobody left to answer.
      onRequest(incoming, outgoing).catch(() => outgoing.destroy());
    },
    host,
    port,
  );
  const ownNames = [...allowHosts, new URL(listening.url).hostname];
  if (page !== undefined && options.appUrlBase === undefined) state.plan.appUrlBase = listening.url;
  const close = () => {
    stop();
    return listening.close();
  };
  const { url, port: bound } = listening;
  return { url, port: bound, close, apiKey, token, state, requests, faults, deliveriesSent: sender.idle };
}
