import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { excerpt } from '../sanitize.ts';
import { automationScopes, seededCredentials } from './auth.ts';
import { allowPages } from './cors.ts';
import {
  headOf,
  maxBytes,
  type ReceivedRequest,
  type RecordedRequest,
  RequestLog,
  readBytes,
} from './exchange.ts';
import { controlFaults, controlPath } from './faults/control.ts';
import { Faults, playFault } from './faults/faults.ts';
import { createWire } from './faults/wire.ts';
import { handlers } from './handlers/index.ts';
import { issueKey } from './handlers/keys.ts';
import { isLoopbackAddress, type Listening, listenForMock, namesThisHost } from './listen.ts';
import type { MockOptions } from './options.ts';
import { createConsole } from './page/console.ts';
import { seededRandom, streamSeed } from './random.ts';
import { documentedLimiter } from './rate-limit.ts';
import { errorResponse, MockError, type RawResponse } from './response.ts';
import { Sender } from './sender.ts';
import { createService } from './service.ts';
import { createState, type State } from './state.ts';
import { DeployedVersions, versionTarget } from './version-page.ts';

export type { RecordedRequest } from './exchange.ts';
export type { Fault } from './faults/faults.ts';
export type { MockOptions } from './options.ts';
export type { Outcome } from './runs.ts';

export interface MockServer {
  /** Without a trailing slash. */
  readonly url: string;
  readonly port: number;
  readonly address: string;
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

/** Returns the mock without its socket. */
function createMock(options: MockOptions) {
  const { seed = 1, allowHosts = [], cors = [] } = options;
  const state = createState(options);
  const faults = new Faults(() => state.clock.monotonic(), seededRandom(streamSeed(seed, 'faults')));
  for (const fault of options.faults ?? []) faults.add(fault);
  const seeded = seededCredentials(seed);
  const { apiKey = seeded.apiKey, token = seeded.token } = options;
  issueKey(state, { name: 'Pipeline', scopes: automationScopes, apiKey });
  state.credentials.set(token, { kind: 'token' });
  const limiter = options.rateLimit === 'documented' ? documentedLimiter(state) : undefined;
  const log = new RequestLog();
  return {
    state,
    faults,
    apiKey,
    token,
    allowHosts,
    cors,
    log,
    sender: new Sender(state, faults, options.deliveries, options.tenantSecret),
    service: createService(state, handlers, limiter),
    versions: new DeployedVersions(options.deployed, () => state.clock.monotonic()),
    page: options.page ? createConsole({ state, faults, requests: log.requests }) : undefined,
  };
}

type Mock = ReturnType<typeof createMock>;

function checkHost(
  { path, headers }: Pick<ReceivedRequest, 'path' | 'headers'>,
  { page, allowHosts }: Mock,
  { url, address }: Listening,
): void {
  const { host = '' } = headers;
  if (host === '') throw new MockError(400, 'Bad request', 'the request has no Host header');
  const isService = path !== controlPath && page?.owns(path) !== true;
  // Other machines may call this one by any name.
  if (isService && !isLoopbackAddress(address)) return;
  if (namesThisHost(host, [...allowHosts, new URL(url).hostname])) return;
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
  mock: Mock,
  listening: Listening,
): Promise<RawResponse | undefined> {
  const { cors, faults, log, page, service, versions } = mock;
  const { clock } = mock.state;
  const reused = used.has(incoming.socket);
  used.add(incoming.socket);
  const head = headOf(incoming);
  // Nothing of a body is read before its sender is checked.
  checkHost(head, mock, listening);
  const preflight = allowPages(cors, head, outgoing);
  if (preflight !== undefined) return preflight;
  const exchange = { ...head, bytes: await readBytes(incoming, maxBytes) };
  const { path, method, target } = exchange;
  if (path === controlPath) return controlFaults(exchange, faults);
  if (page?.owns(path)) return page.handle(exchange);
  const record = log.add(exchange, clock.now());
  const isVersion = versions.owns(path);
  const handle = async () => (isVersion ? versions.respond(path, method) : service(exchange));
  const fault = faults.take(isVersion ? versionTarget : record.endpoint, exchange.headers['user-agent']);
  if (fault === undefined) {
    const response = await handle();
    record.status = response.status;
    return response;
  }
  const wire = createWire(outgoing, {
    target,
    reused,
    now: () => clock.now(),
    handle,
    refuse(ms) {
      const end = clock.monotonic() + ms;
      listening.pause(() => clock.monotonic() >= end);
    },
    sent(status) {
      record.status = status;
    },
  });
  await playFault(fault, wire);
  return undefined;
}

/** Starts the mock on a socket of this machine. It keeps the process alive until it is closed. */
export async function startMock(options: MockOptions = {}): Promise<MockServer> {
  const { host = '127.0.0.1', port = 0 } = options;
  const mock = createMock(options);
  const { state, faults, apiKey, token, log, sender, versions } = mock;
  const onRequest = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.setHeader('date', new Date(state.clock.now()).toUTCString());
    outgoing.setHeader('x-request-id', state.nextId('req'));
    const response = await respond(incoming, outgoing, mock, listening).catch(errorResponse);
    if (response === undefined) return;
    if (!incoming.complete) outgoing.setHeader('connection', 'close');
    const { status, headers, body } = response;
    const length = status === 204 ? {} : { 'content-length': body.length };
    outgoing.writeHead(status, { ...headers, ...length }).end(body);
  };
  const listening = await listenForMock(
    (incoming, outgoing) => {
      // This fails only if the client disconnects while its request is read, so there is no one to respond to.
      onRequest(incoming, outgoing).catch(() => outgoing.destroy());
    },
    host,
    port,
  );
  if (options.page && options.appUrlBase === undefined) state.plan.appUrlBase = listening.url;
  return {
    url: listening.url,
    port: listening.port,
    address: listening.address,
    apiKey,
    token,
    state,
    requests: log.requests,
    faults,
    deploy: (deployed) => versions.deploy(deployed),
    deliveriesSent: () => sender.idle(),
    close() {
      sender.close();
      return listening.close();
    },
  };
}
