import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import buildConnector from 'undici/lib/core/connect.js';
import Agent from 'undici/lib/dispatcher/agent.js';
import { ContractError, UsageError } from '../errors.ts';
import { networkError, timeoutError } from './fault.ts';
import { proxyAuthorization } from './proxy.ts';
import { ProxyFault, proxyError, proxyTimeout } from './proxy-fault.ts';
import { redirectTarget } from './redirect.ts';
import type { PreparedRequest } from './request.ts';
import type { RawReply, Transport } from './transport.ts';
import { trustAlso } from './trust.ts';

export type { RawReply, SendOptions, Transport } from './transport.ts';

export interface TransportOptions {
  /** Default 10 s. */
  connectTimeoutMs?: number | undefined;
  /** Default 32 MiB. */
  maxBodyBytes?: number | undefined;
  /** Certificates (PEM) to trust besides those that Node trusts (`trustAlso`). */
  caPem?: string | undefined;
  /** The proxy that a request goes through (`proxyFor`), null for none; default none ever. */
  proxy?: ((target: URL) => URL | null) | undefined;
}

/** A timer's largest delay: beyond it Node fires at once. */
const longestTimer = 2 ** 31 - 1;

/** Longer than the longest usual poll interval, so that a poll finds its connection open. */
const keepAlive = { keepAliveTimeout: 75_000, keepAliveMaxTimeout: 600_000 };

/** Connections at once: thirty runs that are cancelled together take turns rather than open thirty. */
const mostConnections = 16;

interface Hop {
  request: PreparedRequest;
  url: URL;
  proxy: URL | null;
  signal: AbortSignal;
  maxBodyBytes: number;
  fresh: boolean;
  /** What the hop fails with when `signal` is aborted. */
  reason: (started: boolean) => unknown;
}

function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined) flat[name] = Array.isArray(value) ? value.join(', ') : value;
  }
  return flat;
}

function tooLarge(status: number, limit: number): ContractError {
  const expected = `a body of at most ${limit} bytes`;
  return new ContractError(`the reply is too large: expected ${expected}`, {
    field: '',
    expected,
    received: 'more',
    status,
  });
}

/** Sends one request over the agent and reads the whole reply, without following redirects. */
function sendHop(agent: Dispatcher, hop: Hop): Promise<RawReply> {
  const { request, url, signal } = hop;
  if (signal.aborted) return Promise.reject(hop.reason(false));
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    let reply = { status: 0, headers: {} };
    let controller: Dispatcher.DispatchController | undefined;
    const settle = (outcome: () => void) => {
      signal.removeEventListener('abort', stop);
      outcome();
    };
    const stop = () => {
      settle(() => reject(hop.reason(controller !== undefined)));
      controller?.abort(new Error('stopped'));
    };
    const finish = () =>
      settle(() => resolve({ ...reply, text: new TextDecoder().decode(Buffer.concat(chunks)) }));
    signal.addEventListener('abort', stop, { once: true });
    agent.dispatch(
      {
        origin: url.origin,
        path: url.pathname + url.search,
        method: request.method,
        headers: { ...request.headers },
        body: request.body ?? null,
        reset: hop.fresh,
        // The try has one deadline of its own.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      {
        // Called when a connection is there and the first byte is about to be written, not before.
        onRequestStart(started) {
          if (signal.aborted) started.abort(new Error('stopped'));
          else controller = started;
        },
        onResponseStart(_, status, headers) {
          reply = { status, headers: joined(headers) };
        },
        onResponseData(_, chunk) {
          size += chunk.length;
          if (size <= hop.maxBodyBytes) {
            chunks.push(chunk);
            return;
          }
          // An error is an error whatever the length of its explanation.
          if (reply.status < 200 || reply.status >= 300) finish();
          else settle(() => reject(tooLarge(reply.status, hop.maxBodyBytes)));
          controller?.abort(new Error('too large'));
        },
        onResponseEnd: finish,
        onResponseError(_, error) {
          // What undici itself refuses to send is a fault of ours, not of the network.
          const ours = 'code' in error && error.code === 'UND_ERR_INVALID_ARG';
          if (error instanceof ProxyFault && hop.proxy !== null) {
            const fault = proxyError(error, url, hop.proxy);
            settle(() => reject(fault));
          } else settle(() => reject(ours ? error : networkError(error, url, controller !== undefined)));
        },
      },
    );
  });
}

type Connector = ReturnType<typeof buildConnector>;

/**
 * Connections through a proxy: a CONNECT for each, whatever the target's scheme, as undici does it, so that a proxy
 * never sees a request or a credential of ours. Loaded only where a proxy applies.
 */
async function tunnel(
  proxy: URL,
  tls: object,
  timeout: number,
  tracked: (connector: Connector) => Connector,
): Promise<Dispatcher> {
  const { default: ProxyAgent } = await import('undici/lib/dispatcher/proxy-agent.js');
  const { default: Pool } = await import('undici/lib/dispatcher/pool.js');
  const { default: ask } = await import('undici/lib/api/api-connect.js');
  const token = proxyAuthorization(proxy);
  return new ProxyAgent({
    ...keepAlive,
    connections: mostConnections,
    // Without user and password: undici would send them only where there are both.
    uri: proxy.origin,
    ...(token === null ? {} : { token }),
    proxyTls: tls,
    requestTls: tls,
    clientFactory(origin, options) {
      const { connect } = options as { connect: Connector };
      const pool = new Pool(origin, { connect: tracked(connect), headersTimeout: timeout });
      return Object.assign(pool, {
        async connect(asked: Dispatcher.ConnectOptions) {
          const answer = await ask.call(pool, asked).catch((cause: unknown) => {
            throw new ProxyFault(null, cause);
          });
          if (answer.statusCode === 200) return answer;
          answer.socket.on('error', () => {}).destroy();
          throw new ProxyFault(answer.statusCode);
        },
      });
    },
  });
}

/** The transport over real sockets. Connections are opened when they are first needed. */
export function undiciTransport(options: TransportOptions = {}): Transport {
  const sockets = new Set<Socket>();
  const agents = new Set<Dispatcher>();
  const closing = new AbortController();
  const { caPem, maxBodyBytes = 32 * 1024 * 1024 } = options;
  const timeout = options.connectTimeoutMs ?? 10_000;
  const context = caPem === undefined ? undefined : trustAlso(caPem);
  context?.catch(() => {});

  // undici does not end a connection that is still being made, so we keep track.
  const tracked = (connector: Connector): Connector => {
    return (target, callback) => {
      const socket = connector(target, callback);
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    };
  };

  async function open(proxy: URL | null): Promise<Dispatcher> {
    const secure = await context;
    const tls = { timeout, ...(secure === undefined ? {} : { secureContext: secure }) };
    const agent =
      proxy === null
        ? new Agent({ ...keepAlive, connections: mostConnections, connect: tracked(buildConnector(tls)) })
        : await tunnel(proxy, tls, timeout, tracked);
    agents.add(agent);
    return agent;
  }

  async function end(agent: Dispatcher): Promise<void> {
    agents.delete(agent);
    await agent.destroy();
  }

  const shared = new Map<string, Promise<Dispatcher>>();
  const agentFor = (proxy: URL | null) => {
    const key = proxy?.href ?? '';
    const opened = shared.get(key) ?? open(proxy);
    shared.set(key, opened);
    return opened;
  };

  async function follow(agent: Dispatcher, hop: Hop): Promise<RawReply> {
    for (let hops = 0; ; hops += 1) {
      const reply = await sendHop(agent, hop);
      const location = { status: reply.status, location: reply.headers.location };
      const next = redirectTarget(location, hop.request.method, hop.url, hops);
      if (next === undefined) return hops === 0 ? reply : { ...reply, finalUrl: hop.url.href };
      hop.url = next;
    }
  }

  return {
    async send(request, { signal, timeoutMs, fresh = false }) {
      signal?.throwIfAborted();
      closing.signal.throwIfAborted();
      const stop = new AbortController();
      const onAbort = () => stop.abort(signal?.reason);
      const onClose = () => stop.abort(closing.signal.reason);
      const late = Symbol('late');
      const timer = setTimeout(() => stop.abort(late), Math.min(timeoutMs, longestTimer));
      signal?.addEventListener('abort', onAbort, { once: true });
      closing.signal.addEventListener('abort', onClose, { once: true });
      let proxy: URL | null = null;
      const reason = (started: boolean) => {
        if (stop.signal.reason !== late) return stop.signal.reason;
        return proxy === null || started
          ? timeoutError(request.url, started, timeoutMs)
          : proxyTimeout(request.url, proxy, timeoutMs);
      };
      let own: Dispatcher | undefined;
      try {
        // A redirect stays within the origin, and so does the choice.
        proxy = options.proxy?.(request.url) ?? null;
        if (fresh) own = await open(proxy);
        const hop = { request, url: request.url, proxy, signal: stop.signal, maxBodyBytes, fresh, reason };
        return await follow(own ?? (await agentFor(proxy)), hop);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        closing.signal.removeEventListener('abort', onClose);
        if (own !== undefined) void end(own);
      }
    },
    async close() {
      closing.abort(new UsageError('the client is closed'));
      await Promise.all([...agents].map(end));
      for (const socket of sockets) socket.destroy();
    },
  };
}
