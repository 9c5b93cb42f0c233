import { createHash, timingSafeEqual } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../clock.ts';
import { CollectedBytes } from '../collected-bytes.ts';
import { hubVersion, type RequestClass, requestClasses } from '../gate/fleet/hub-link.ts';
import { statusOf } from '../webhook/receivers/public.ts';
import type { RequestLine } from './budget.ts';
import { longestId, type ReceivedDelivery } from './deliveries.ts';
import type { Hub } from './hub.ts';
import type { Probes } from './probes.ts';
import { lineOf } from './scheduler.ts';
import { watchStrangers } from './strangers.ts';

/** An event of the hub, for its log and its metrics. */
export type HubLogEvent =
  | { type: 'delivery'; ids: number; replay: boolean; ageSeconds: number }
  | { type: 'refused-delivery'; code: string; status: number }
  | {
      type: 'grant';
      class: RequestClass;
      gate?: string | undefined;
      runId?: string | undefined;
      waitedMs: number;
    }
  | { type: 'report'; line: RequestLine; requests: number }
  | { type: 'limited'; retryAfterMs: number }
  | { type: 'stream'; runs: number; open: number }
  | { type: 'wake'; runId: string }
  | { type: 'refused-request'; status: number; path: string }
  | { type: 'closed-connections'; count: number }
  | { type: 'clock'; offsetSeconds: number }
  | { type: 'fault'; error: unknown };

export interface HubState {
  /** Whether Redis works; null without Redis. */
  redis: boolean | null;
  waiting: ReturnType<Hub['waiting']>;
  /** How long the oldest request in each line has waited, in milliseconds. */
  oldestMs: ReturnType<Hub['oldestMs']>;
  budget: ReturnType<Hub['budget']>;
  ready: boolean;
  /** Open streams of gates. */
  streams: number;
}

export interface HubServerOptions {
  hub: Hub;
  clock: Clock;
  /** Calls back time and again until the returned function is called. */
  every(ms: number, beat: () => void): () => void;
  /** The tokens that gates may have: the current one, and the previous ones while they are rotated. */
  tokens: readonly string[];
  /** Verifies a delivery and returns its JSON; `replay` if it came before. */
  receive(request: IncomingMessage): Promise<ReceivedDelivery>;
  redis: () => boolean | null;
  probes: Probes;
  metrics(state: HubState): Promise<{ type: string; text: string }>;
  log(event: HubLogEvent): void;
  /** A request that takes longer to arrive is refused; default 30 s. */
  receiveMs?: number | undefined;
}

const heartbeatMs = 3_000;
/** A request for a grant is held this long, then the gate asks again. */
const holdMs = 20_000;
/** A longer wait of a gate does not make its request more urgent. */
const longestWaitMs = 60 * 60_000;
const mostBodyBytes = 256 * 1024;
const mostRuns = 1_000;
/** The runs that all gates together may watch, and the gates that may be connected or wait at the same time. */
const mostWatched = 20_000;
const mostGates = 4_000;
const mostUnreadBytes = 64 * 1024;
/** The time for deliveries that are under way when the hub stops. */
const closeMs = 3_000;
/** Deliveries that arrive at the same time, since anyone may send one, of up to 1 MiB. */
const mostDeliveries = 64;

/** An error that the sender is to blame for. */
class BadRequest extends Error {
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

function sendJson(response: ServerResponse, status: number, body?: unknown): void {
  if (body === undefined) {
    response.writeHead(status).end();
    return;
  }
  response.writeHead(status, { 'Content-Type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
}

async function readJsonBody(request: IncomingMessage): Promise<Record<string, unknown>> {
  const body = new CollectedBytes(mostBodyBytes);
  for await (const part of request as AsyncIterable<Uint8Array>)
    if (!body.add(part)) throw new BadRequest(413, `the body has more than ${mostBodyBytes} bytes`);
  try {
    const json: unknown = JSON.parse(new TextDecoder().decode(body.bytes()));
    if (typeof json === 'object' && json !== null) return json as Record<string, unknown>;
  } catch {
    // The same error as for JSON of another type.
  }
  throw new BadRequest(400, 'the body is not a JSON object');
}

const milliseconds = (value: unknown, most: number) =>
  typeof value === 'number' && value >= 0 ? Math.min(value, most) : 0;

const digest = (text: string) => createHash('sha256').update(text).digest();

export interface HubServer {
  readonly url: string;
  readonly port: number;
  /** Tells gates to connect again, finishes deliveries that are under way, and stops. */
  close(): Promise<void>;
}

/** Serves gates and receives deliveries. @throws what Node throws when it cannot listen */
export async function serveHub(host: string, port: number, options: HubServerOptions): Promise<HubServer> {
  const { hub, clock, log, receiveMs = 30_000 } = options;
  const tokens = options.tokens.map(digest);
  const streams = new Set<ServerResponse>();
  const closing = new AbortController();
  // Every request for a grant listens to it.
  setMaxListeners(0, closing.signal);

  const authorize = ({ headers }: IncomingMessage) => {
    const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1];
    const token = digest(bearer ?? '');
    // All are compared, so that the time taken says nothing about any of them.
    const matches = tokens.filter((each) => timingSafeEqual(each, token));
    if (bearer === undefined || matches.length === 0)
      throw new BadRequest(401, 'the token is missing or wrong');
  };

  /** The deliveries that are arriving, the oldest first. */
  const arriving = new Set<IncomingMessage>();
  const deliver = async (request: IncomingMessage, response: ServerResponse) => {
    const refuse = (code: string, status: number) => {
      log({ type: 'refused-delivery', code, status });
      response.setHeader('Connection', 'close');
      sendJson(response, status);
    };
    arriving.add(request);
    for (const event of ['end', 'close']) request.once(event, () => arriving.delete(request));
    // An authentic delivery arrives in an instant: many slow ones must not keep it out.
    const [oldest] = arriving;
    if (arriving.size > mostDeliveries) oldest?.destroy();
    try {
      const { json, replay, ageSeconds } = await options.receive(request);
      strangers.leave(request.socket);
      const ids = replay ? 0 : await hub.deliver(json);
      log({ type: 'delivery', ids, replay, ageSeconds });
      sendJson(response, 204);
    } catch (error) {
      const status = statusOf(error);
      if (status === 500) log({ type: 'fault', error });
      refuse(status === 500 ? 'error' : String((error as { code?: unknown }).code), status);
    }
  };

  /** Reads the request of a gate, which may keep its connection. */
  const readGate = async (request: IncomingMessage) => {
    const json = await readJsonBody(request);
    strangers.leave(request.socket);
    return json;
  };

  /** The runs that gates watch. */
  let watched = 0;
  const stream = async (request: IncomingMessage, response: ServerResponse) => {
    const { runs: runIds } = await readGate(request);
    const isList = Array.isArray(runIds) && runIds.every((run) => typeof run === 'string');
    if (!isList || runIds.length > mostRuns)
      throw new BadRequest(400, `runs must be a list of at most ${mostRuns} run ids`);
    const runs = runIds.filter(({ length }) => length <= longestId);
    if (watched + runs.length > mostWatched || streams.size >= mostGates)
      throw new BadRequest(503, 'the hub watches as many runs as it can');
    if (response.destroyed) return;
    watched += runs.length;
    response.once('close', () => {
      watched -= runs.length;
    });
    const lastId = Number(request.headers['last-event-id'] ?? 0);
    response.writeHead(200, {
      'Content-Type': 'text/event-stream',
      'Cache-Control': 'no-store, no-transform',
      // Otherwise nginx would keep the events until its buffer is full.
      'X-Accel-Buffering': 'no',
    });
    response.write(`event: ready\ndata: {"version":${hubVersion}}\n\n`);
    streams.add(response);
    response.once('close', () => streams.delete(response));
    log({ type: 'stream', runs: runs.length, open: streams.size });
    const end = await hub.subscribe(runs, Number.isFinite(lastId) ? lastId : 0, ({ id, at }) => {
      log({ type: 'wake', runId: id });
      response.write(`id: ${at}\nevent: wake\ndata: ${JSON.stringify({ runId: id })}\n\n`);
    });
    if (response.destroyed) end();
    else response.once('close', end);
  };

  /** Grants so far: a gate that waits sees that the hub goes on. */
  const grants: Record<RequestLine, number> = { create: 0, read: 0, safety: 0 };
  const grant = async (request: IncomingMessage, response: ServerResponse) => {
    const { class: kind, waitedMs } = await readGate(request);
    const known = requestClasses.find((each) => each === kind);
    if (known === undefined) throw new BadRequest(400, `class must be one of ${requestClasses.join(', ')}`);
    const queued = hub.waiting();
    if (queued.create + queued.read + queued.safety >= mostGates)
      throw new BadRequest(503, 'as many requests wait for a grant as the hub can hold');
    const waited = milliseconds(waitedMs, longestWaitMs);
    const began = clock.monotonic();
    const over = new AbortController();
    const end = () => over.abort();
    response.once('close', end);
    closing.signal.addEventListener('abort', end, { once: true });
    clock.sleep(holdMs, over.signal).then(end, () => {});
    try {
      await hub.grant(known, waited, over.signal);
      grants[lineOf(known)] += 1;
      log({ type: 'grant', class: known, waitedMs: waited + clock.monotonic() - began });
      sendJson(response, 200, { granted: true });
    } catch (error) {
      if (!over.signal.aborted) throw error;
      if (!response.destroyed) sendJson(response, 202, { granted: false, others: grants[lineOf(known)] });
    } finally {
      end();
      closing.signal.removeEventListener('abort', end);
    }
  };

  const limited = async (request: IncomingMessage, response: ServerResponse) => {
    const retryAfterMs = milliseconds((await readGate(request)).retryAfterMs, longestWaitMs);
    await hub.limited(retryAfterMs);
    log({ type: 'limited', retryAfterMs });
    sendJson(response, 204);
  };

  const state = (): HubState => ({
    redis: options.redis(),
    waiting: hub.waiting(),
    oldestMs: hub.oldestMs(),
    budget: hub.budget(),
    ready: options.probes.readiness().status !== 'not ready',
    streams: streams.size,
  });

  type Route = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
  const forGates =
    (route: Route): Route =>
    (request, response) => {
      authorize(request);
      return route(request, response);
    };
  const routes: Record<string, Route> = {
    'POST /deliveries': deliver,
    'POST /v1/wakes': forGates(stream),
    'POST /v1/grants': forGates(grant),
    'POST /v1/limits': forGates(limited),
    'GET /livez': (_, response) => sendJson(response, 200, { status: 'ok' }),
    'GET /readyz'(_, response) {
      const readiness = options.probes.readiness();
      const { redis, waiting, streams } = state();
      sendJson(response, readiness.status === 'not ready' ? 503 : 200, {
        ...readiness,
        version: hubVersion,
        redis,
        waiting,
        streams,
      });
    },
    async 'GET /metrics'(_, response) {
      const { type, text } = await options.metrics(state());
      response.writeHead(200, { 'Content-Type': type }).end(text);
    },
  };

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const route = routes[`${request.method} ${path}`];
    try {
      if (route !== undefined) return await route(request, response);
      const isKnown = Object.keys(routes).some((each) => each.endsWith(` ${path}`));
      throw new BadRequest(
        isKnown ? 405 : 404,
        isKnown ? 'the method is not allowed' : 'there is no such path',
      );
    } catch (error) {
      const isRefused = error instanceof BadRequest;
      // A gate that goes away is not a fault.
      if (!isRefused && response.destroyed) return;
      const { status, message } = isRefused ? error : { status: 500, message: 'internal error' };
      log(isRefused ? { type: 'refused-request', status, path } : { type: 'fault', error });
      if (response.headersSent) return void response.destroy();
      response.setHeader('Connection', 'close');
      sendJson(response, status, { error: message });
    }
  };

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
      response.on('close', () => closing.signal.aborted && setImmediate(() => server.closeIdleConnections()));
      request.on('error', () => {});
      void handle(request, response);
    },
  );
  const strangers = watchStrangers(server, clock.monotonic, (count) =>
    log({ type: 'closed-connections', count }),
  );
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  // Such as too many open files, when a connection is accepted.
  server.on('error', (error) => log({ type: 'fault', error }));
  const stopBeat = options.every(heartbeatMs, () => {
    hub.beat();
    // Also if no descriptor is left, so that no connection arrives.
    strangers.sweep();
    for (const response of streams) {
      // A gate that no longer reads has gone without a word.
      if (response.writableLength > mostUnreadBytes) response.destroy();
      else response.write(': heartbeat\n\n');
    }
  });

  const { port: bound } = server.address() as AddressInfo;
  return {
    port: bound,
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`,
    async close() {
      options.probes.leave();
      stopBeat();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closing.abort();
      for (const response of streams) response.end();
      server.closeIdleConnections();
      const done = new AbortController();
      await Promise.race([closed, clock.sleep(closeMs, done.signal).catch(() => {})]);
      done.abort();
      server.closeAllConnections();
      hub.close();
    },
  };
}
