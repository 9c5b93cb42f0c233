import { setMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock } from '../clock.ts';
import { UsageError } from '../errors.ts';
import { excerpt } from '../sanitize.ts';
import { automationScopes, seededCredentials } from './auth.ts';
import { headOf, type ReceivedRequest, type RecordedRequest, readBytes, recordOf } from './exchange.ts';
import { controlFaults, controlPath } from './faults/control.ts';
import { Faults, playFault } from './faults/faults.ts';
import { createWire } from './faults/wire.ts';
import { handlers } from './handlers/index.ts';
import { issueKey } from './handlers/keys.ts';
import { announceEnd, holdStatus } from './handlers/run.ts';
import { isLoopbackAddress, listenForMock, namesThisHost } from './listen.ts';
import type { MockOptions } from './options.ts';
import { createConsole } from './page/console.ts';
import { seededRandom, streamSeed } from './random.ts';
import { documentedLimiter, unlimited } from './rate-limit.ts';
import { errorResponse, MockError, type RawResponse } from './response.ts';
import { createSender } from './sender.ts';
import { createService } from './service.ts';
import { createState, type State } from './state.ts';
import { DeployedVersions, versionTarget } from './version-page.ts';

export type { DataSizes } from './data/account.ts';
export type { RecordedRequest } from './exchange.ts';
export type { Fault } from './faults/faults.ts';
export type { MockOptions } from './options.ts';
export { type Counts, type Outcome, outcomes } from './state.ts';

export interface MockServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly apiKey: string;
  readonly token: string;
  readonly state: State;
  /** The last 10,000 requests, oldest first, with bodies of at most 64 MiB together. */
  readonly requests: readonly RecordedRequest[];
  readonly faults: Faults;
  /** Shows other versions on the version page, from now on: `new`, `old,new@30s` or `old/new`. */
  deploy(deployed: string): void;
  /** Resolves when no webhook delivery is in flight. */
  deliveriesSent(): Promise<void>;
  /** Stops listening and breaks open connections, so that it never waits for a client. */
  close(): Promise<void>;
}

const maxRequests = 10_000;
/** The size limit of a body, and of all recorded bodies together. */
const maxBytes = 64 * 1024 * 1024;

/** Creates the state with the faults and the sender of deliveries, which need each other. */
function createParts(options: MockOptions) {
  const { outcome = 'passed', clock = systemClock, deliveries = 'off', seed = 1, tenantSecret } = options;
  const outcomes = [outcome].flat();
  if (outcomes.length === 0) throw new UsageError('the mock needs at least one outcome');
  const faults = new Faults(() => clock.monotonic(), seededRandom(streamSeed(seed, 'faults')));
  for (const fault of options.faults ?? []) faults.add(fault);
  const sender = createSender({
    scope: deliveries,
    clock,
    tenantSecret,
    faults,
    holdStatus: ({ payload }, ms) => holdStatus(state, (payload.data as { runId?: unknown }).runId, ms),
  });
  const ending = new AbortController();
  // Every run in progress has a listener; many of them are not a leak.
  setMaxListeners(0, ending.signal);
  const state: State = createState({
    seed,
    clock,
    plan: {
      outcomes,
      durationMs: options.duration ?? 2000,
      counts: options.counts,
      retryAfterSeconds: options.retryAfterSeconds,
      appUrlBase: options.appUrlBase ?? 'https://app.example.test',
    },
    data: options.data,
    deliver: sender.deliver,
    watchRun(run) {
      // Without deliveries no timer is needed: the next status read announces the end of the run.
      if (deliveries === 'off' || run.outcome === 'stuck') return;
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
  return { state, faults, sender, stop };
}

/** Keeps the newest requests. */
class RequestLog {
  readonly requests: RecordedRequest[] = [];
  #size = 0;

  add(record: RecordedRequest): void {
    this.requests.push(record);
    this.#size += record.body.length;
    while (this.requests.length > maxRequests || this.#size > maxBytes)
      this.#size -= this.requests.shift()?.body.length ?? this.#size;
  }
}

/** Starts the mock on a socket of this machine. It keeps the process alive until it is closed. */
export async function startMock(options: MockOptions = {}): Promise<MockServer> {
  const { host = '127.0.0.1', port = 0, seed = 1, allowHosts = [] } = options;
  const { state, faults, sender, stop } = createParts(options);
  const seeded = seededCredentials(seed);
  const { apiKey = seeded.apiKey, token = seeded.token } = options;
  issueKey(state, { name: 'Pipeline', scopes: automationScopes, apiKey });
  state.credentials.set(token, { kind: 'token' });
  const limiter = options.rateLimit === 'documented' ? documentedLimiter(state) : unlimited;
  const service = createService(state, handlers, limiter);
  const { clock } = state;
  const versions = new DeployedVersions(options.deployed, () => clock.monotonic());
  const log = new RequestLog();
  const { requests } = log;
  const page = options.page ? createConsole({ state, faults, requests }) : undefined;

  function checkHost({ path, headers: { host = '' } }: Pick<ReceivedRequest, 'path' | 'headers'>): void {
    if (host === '') throw new MockError(400, 'Bad request', 'the request has no Host header');
    const isService = path !== controlPath && page?.owns(path) !== true;
    // Other machines may call this one by any name.
    if (isService && !isLoopbackAddress(listening.address)) return;
    if (namesThisHost(host, [...allowHosts, new URL(listening.url).hostname])) return;
    const remedy = 'use http://127.0.0.1, or start the mock with --allow-host <name>';
    const details = `the mock does not serve the host ${excerpt(host, 100)}: ${remedy}`;
    throw new MockError(421, 'Misdirected request', details);
  }

  /** Connections that have carried a request. */
  const used = new WeakSet<Socket>();

  /** Returns the response to a request, or undefined if a fault has taken over the connection. */
  async function respond(
    incoming: IncomingMessage,
    outgoing: ServerResponse,
    reused: boolean,
  ): Promise<RawResponse | undefined> {
    const head = headOf(incoming);
    // Nothing of a body is read before its sender is checked.
    checkHost(head);
    const exchange = { ...head, bytes: await readBytes(incoming, maxBytes) };
    if (exchange.path === controlPath) return controlFaults(exchange, faults);
    if (page?.owns(exchange.path)) return page.handle(exchange);
    const isVersion = versions.owns(exchange.path);
    const record = recordOf(exchange, clock.now());
    log.add(record);
    const sent = (status: number) => {
      record.status = status;
    };
    const handle = async () =>
      isVersion ? versions.respond(exchange.path, exchange.method) : await service(exchange);
    const fault = faults.take(isVersion ? versionTarget : record.endpoint);
    if (fault === undefined) {
      const response = await handle();
      sent(response.status);
      return response;
    }
    const refuse = (ms: number) => {
      const end = clock.monotonic() + ms;
      listening.pause(() => clock.monotonic() >= end);
    };
    const wire = { target: exchange.target, reused, now: () => clock.now(), handle, refuse, sent };
    await playFault(fault, createWire(outgoing, wire));
    return undefined;
  }

  async function onRequest(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
    outgoing.setHeader('date', new Date(clock.now()).toUTCString());
    outgoing.setHeader('x-request-id', state.nextId('req'));
    const reused = used.has(incoming.socket);
    used.add(incoming.socket);
    const response = await respond(incoming, outgoing, reused).catch(errorResponse);
    if (response === undefined) return;
    if (!incoming.complete) outgoing.setHeader('connection', 'close');
    const { status, headers, body } = response;
    const length = status === 204 ? {} : { 'content-length': body.length };
    outgoing.writeHead(status, { ...headers, ...length }).end(body);
  }

  const listening = await listenForMock(
    (incoming, outgoing) => {
      // This fails only if the client disconnects while its request is read, so there is no one to respond to.
      onRequest(incoming, outgoing).catch(() => outgoing.destroy());
    },
    host,
    port,
  );
  if (page !== undefined && options.appUrlBase === undefined) state.plan.appUrlBase = listening.url;
  return {
    url: listening.url,
    port: listening.port,
    apiKey,
    token,
    state,
    requests,
    faults,
    deploy: (deployed) => versions.deploy(deployed),
    deliveriesSent: sender.idle,
    close() {
      stop();
      return listening.close();
    },
  };
}
