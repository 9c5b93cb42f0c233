import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type Clock, within } from '../clock.ts';
import { hubVersion } from '../gate/fleet/protocol.ts';
import { httpUrl, listen } from '../listen.ts';
import { createReceiving, type ReceivedDelivery } from './deliveries.ts';
import { DetachedGates, type StartJob } from './detached.ts';
import { createDetachedRoutes } from './detached-routes.ts';
import { createGranting, type Granting } from './granting.ts';
import { BadRequest, type HubLogEvent, type Route, sendJson } from './http.ts';
import type { Hub } from './hub.ts';
import { type Readiness, type RedisState, readinessOf } from './probes.ts';
import { createStreams, type Streams } from './streams.ts';

export interface HubState {
  /** Whether Redis works; null without Redis. */
  redis: boolean | null;
  waiting: ReturnType<Hub['scheduler']['waiting']>;
  oldestSeconds: ReturnType<Hub['scheduler']['oldestSeconds']>;
  budget: ReturnType<Hub['budget']['view']>;
  ready: boolean;
  /** Open streams of gates. */
  streams: number;
  /** Open detached gates. */
  detached: number;
}

export interface HubServerOptions {
  hub: Hub;
  clock: Clock;
  /** Calls back time and again until the returned function is called. */
  every(ms: number, beat: () => void): () => void;
  /** The tokens that gates may have: the current one, and the previous ones while they are rotated. */
  tokens: readonly string[];
  /** Verifies a delivery. */
  receive(request: IncomingMessage): Promise<ReceivedDelivery>;
  /** Null without Redis. */
  redis(): RedisState | null;
  /** Starts the job of a detached gate; null if this hub cannot. */
  startJob: StartJob | null;
  metrics(state: HubState): Promise<{ type: string; text: string }>;
  log(event: HubLogEvent): void;
  /** A request that takes longer to arrive is refused; default 30 s. */
  receiveMs?: number | undefined;
}

const heartbeatMs = 3_000;
const sweepMs = 2_000;
/** A hub that stops sends its gates to others over this time. */
const leaveMs = 4_000;
/** After that, the time for deliveries that are under way. */
const closeMs = 3_000;

const digest = (text: string) => createHash('sha256').update(text).digest();

/** Returns a function that serves a route only with one of the tokens. */
function authorizedBy(tokens: readonly string[]): (route: Route) => Route {
  const digests = tokens.map(digest);
  return (route) => (request, response) => {
    const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const token = digest(bearer ?? '');
    // All are compared, so that the time taken says nothing about any of them.
    const matches = digests.filter((each) => timingSafeEqual(each, token));
    if (bearer === undefined || matches.length === 0)
      throw new BadRequest(401, 'the token is missing or wrong');
    return route(request, response);
  };
}

function createRoutes(
  options: HubServerOptions,
  streams: Streams,
  granting: Granting,
  detached: DetachedGates,
  isLeaving: () => boolean,
): Readonly<Record<string, Route>> {
  const { hub, log, tokens } = options;
  const readiness = () => readinessOf(isLeaving(), options.redis());
  const state = ({ status }: Readiness): HubState => ({
    redis: options.redis()?.works ?? null,
    waiting: hub.scheduler.waiting(),
    oldestSeconds: hub.scheduler.oldestSeconds(),
    budget: hub.budget.view(),
    ready: status !== 'not ready',
    streams: streams.count(),
    detached: detached.open,
  });
  const forGates = authorizedBy(tokens);
  return {
    'POST /deliveries': createReceiving(options.receive, hub.wakes, log),
    'POST /v1/wakes': forGates(streams.open),
    'POST /v1/grants': forGates(granting.grant),
    'POST /v1/limits': forGates(granting.limited),
    'POST /v1/requests': forGates(granting.sent),
    ...createDetachedRoutes(detached, forGates),
    'GET /livez': (_, response) => sendJson(response, 200, { status: 'ok' }),
    'GET /readyz'(_, response) {
      const found = readiness();
      const { redis, waiting, streams, ready } = state(found);
      sendJson(response, ready ? 200 : 503, { ...found, version: hubVersion, redis, waiting, streams });
    },
    async 'GET /metrics'(_, response) {
      const { type, text } = await options.metrics(state(readiness()));
      response.writeHead(200, { 'Content-Type': type }).end(text);
    },
  };
}

/** Serves one request. */
async function respond(
  routes: Readonly<Record<string, Route>>,
  request: IncomingMessage,
  response: ServerResponse,
  log: HubServerOptions['log'],
): Promise<void> {
  const path = (request.url ?? '/').split('?')[0] ?? '/';
  const route = routes[`${request.method} ${path}`];
  try {
    if (route !== undefined) return await route(request, response);
    const isKnown = Object.keys(routes).some((each) => each.endsWith(` ${path}`));
    throw isKnown
      ? new BadRequest(405, 'the method is not allowed')
      : new BadRequest(404, 'there is no such path');
  } catch (error) {
    const isRefused = error instanceof BadRequest;
    // A gate that goes away is not a fault.
    if (!isRefused && response.destroyed) return;
    const { status, message, fields, retryAfter } = isRefused ? error : new BadRequest(500, 'internal error');
    log(isRefused ? { type: 'refused-request', status, path } : { type: 'fault', error });
    if (response.headersSent) return void response.destroy();
    response.setHeader('Connection', 'close');
    if (retryAfter !== null) response.setHeader('Retry-After', retryAfter);
    sendJson(response, status, { error: message, ...fields });
  }
}

/** Serves gates and receives deliveries. @throws ConfigError if it cannot listen */
export async function serveHub(host: string, port: number, options: HubServerOptions) {
  const { hub, clock, startJob, log, receiveMs = 30_000 } = options;
  let state: 'serving' | 'leaving' | 'closing' = 'serving';
  const streams = createStreams(hub.wakes, clock, log);
  const granting = createGranting(hub, clock, log);
  const detached = new DetachedGates({ store: hub.gates, wakes: hub.wakes, startJob, log });
  const routes = createRoutes(options, streams, granting, detached, () => state !== 'serving');
  const server = createServer(
    {
      requestTimeout: receiveMs,
      headersTimeout: receiveMs / 3,
      connectionsCheckingInterval: receiveMs / 6,
    },
    (request, response) => {
      // The request came before the response to another, which no gate or proxy does: its response would never be closed.
      if (response.socket === null) return void request.socket.destroy();
      // Without listeners, a sender that goes away would end the process.
      response.on('error', () => {});
      // Otherwise a connection that may be used again would delay the end of the hub.
      response.on('close', () => state === 'closing' && setImmediate(() => server.closeIdleConnections()));
      request.on('error', () => {});
      if (state !== 'serving') response.setHeader('Connection', 'close');
      void respond(routes, request, response, log);
    },
  );
  const bound = await listen(server, host, port);
  // Such as too many open files, when a connection is accepted.
  server.on('error', (error) => log({ type: 'fault', error }));
  const stopBeat = options.every(heartbeatMs, () => {
    void hub.budget.refresh();
    streams.beat();
  });
  const stopSweeps = options.every(sweepMs, () => detached.sweep());

  return {
    url: httpUrl(host, bound.port),
    /** Sends the gates to other hubs over this time, finishes deliveries that are under way, and stops. */
    async close(overMs = leaveMs) {
      state = 'leaving';
      if (overMs > 0) await streams.leave(overMs);
      state = 'closing';
      stopBeat();
      stopSweeps();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      granting.end();
      streams.end();
      server.closeIdleConnections();
      await within(closeMs, Promise.all([closed, detached.swept()]), clock);
      server.closeAllConnections();
    },
  };
}
