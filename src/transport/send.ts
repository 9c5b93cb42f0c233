import { HttpError, UsageError } from '../errors.ts';
import { parseUrl } from '../parse-url.ts';
import type { Receiver } from './address.ts';
import { type Connections, openConnections } from './connections.ts';
import { type Hop, sendHop } from './hop.ts';
import { proxyTimeout, timeoutError } from './network-error.ts';
import { Stop } from './stop.ts';
import type { RawReply, Transport } from './transport.ts';
import { trustAlso } from './trust.ts';

export type { RawReply, SendOptions, Transport } from './transport.ts';

export interface TransportOptions {
  /** The time limit for each step of opening a connection, in milliseconds. Default 10 s. */
  connectTimeoutMs?: number | undefined;
  /** The size limit of a response, unless its endpoint has a lower one. Default 16 MiB. */
  maxBodyBytes?: number | undefined;
  /** Certificates (PEM) to trust in addition to those that Node trusts (`trustAlso`). */
  caPem?: string | undefined;
  /** The client's certificate (PEM). It is shown to the target, never to a proxy. */
  certPem?: string | undefined;
  /** Its private key (PEM); default: `certPem` contains it. */
  keyPem?: string | undefined;
  /** Returns the proxy for a URL (`proxyFor`), or null for a direct connection. Default: always direct. */
  proxy?: ((target: URL) => URL | null) | undefined;
  to: Receiver;
}

const maxRedirects = 5;

/** Status codes of a redirect that turns a request into a GET. */
const toGet: readonly number[] = [301, 302, 303];
/** Status codes of a redirect that keeps method and body. */
const sameMethod: readonly number[] = [307, 308];

/**
 * Returns the target of a redirect, or undefined if the response is not one.
 * Redirects are followed within the origin only, since the credential is sent along. A GET follows any redirect, another
 * method only those that keep method and body.
 * @param hops redirects already followed
 * @throws HttpError for a redirect that is not followed
 */
function redirectTarget(
  response: { status: number; location: string | undefined },
  method: string,
  from: URL,
  hops: number,
  { address, server }: Receiver,
): URL | undefined {
  const { status, location } = response;
  if (location === undefined || !(toGet.includes(status) || sameMethod.includes(status))) return undefined;
  const problem = (what: string, hint?: string) =>
    new HttpError(`the ${server} redirects ${what}`, { status, hint });
  const to = parseUrl(location, from.href);
  if (to === null) throw problem(`(${status}) to an invalid URL`);
  to.username = '';
  to.password = '';
  to.hash = '';
  if (to.origin !== from.origin) {
    const place = to.origin === 'null' ? `a ${to.protocol} URL` : to.origin;
    throw problem(
      `(${status}) to another origin, ${place}`,
      `rungate does not send the credential there; if ${place} is the ${server}, set ${address} to it`,
    );
  }
  if (method !== 'GET' && toGet.includes(status)) {
    throw problem(
      `(${status}) a ${method}, which would lose its body`,
      `change ${address} so that the ${server} does not redirect; this redirect leads to ${to.pathname}`,
    );
  }
  if (hops >= maxRedirects) {
    throw problem(`more than ${maxRedirects} times`, `check the path in ${address}`);
  }
  return to;
}

/** The largest delay of a timer; with a larger one Node fires immediately. */
const longestTimer = 2 ** 31 - 1;

/** Returns a transport over real sockets, which opens connections when they are first needed. */
export function httpTransport(options: TransportOptions): Transport {
  const opened = new Set<Connections>();
  const running = new Set<Stop>();
  let closed: UsageError | null = null;
  const { caPem, maxBodyBytes = 16 * 1024 * 1024, connectTimeoutMs: timeoutMs = 10_000 } = options;
  const { to, certPem, keyPem = certPem } = options;
  if (certPem === undefined && keyPem !== undefined)
    throw new UsageError(`${to.keyFile} has no effect without ${to.certFile}`);
  const trust = caPem === undefined ? undefined : trustAlso(caPem);
  const identity = certPem === undefined ? undefined : { certPem, keyPem: keyPem ?? certPem, to };
  const own = identity === undefined ? trust : trustAlso(caPem, identity);
  for (const context of [trust, own]) context?.catch(() => {});

  async function open(proxy: URL | null): Promise<Connections> {
    const [context, proxyContext] = [await own, await trust];
    const connections = openConnections({ proxy, context, proxyContext, timeoutMs });
    opened.add(connections);
    if (closed !== null) connections.end();
    return connections;
  }

  const shared = new Map<string, Promise<Connections>>();
  function connectionsFor(proxy: URL | null): Promise<Connections> {
    const key = proxy?.href ?? '';
    const connections = shared.get(key) ?? open(proxy);
    shared.set(key, connections);
    return connections;
  }

  /** Sends one request. Redirects stay within the origin, so all hops share the proxy and the connections. */
  async function sendOnce(hop: Hop, fresh: boolean): Promise<RawReply> {
    const connections = await connectionsFor(hop.proxy);
    for (let hops = 0; ; hops += 1) {
      const response = await sendHop(fresh ? connections.fresh : connections.pooled, hop);
      const { status, headers } = response;
      const { location } = headers;
      const next = redirectTarget({ status, location }, hop.request.method, hop.url, hops, to);
      if (next === undefined) return response;
      hop.url = next;
    }
  }

  return {
    async send(request, { signal, timeoutMs, timeoutHint, fresh = false, onData }) {
      signal?.throwIfAborted();
      if (closed !== null) throw closed;
      const { url } = request;
      const proxy = options.proxy?.(url) ?? null;
      const stop = new Stop();
      const onAbort = () => stop.call(signal?.reason);
      const timedOut = Symbol('timed out');
      const timer = setTimeout(() => stop.call(timedOut), Math.min(timeoutMs, longestTimer));
      signal?.addEventListener('abort', onAbort, { once: true });
      running.add(stop);
      const reason = (started: boolean) => {
        if (stop.reason !== timedOut) return stop.reason;
        return proxy === null || started
          ? timeoutError(url, started, timeoutMs, to, timeoutHint)
          : proxyTimeout(url, proxy, timeoutMs);
      };
      try {
        const limit = Math.min(maxBodyBytes, request.maxReplyBytes ?? maxBodyBytes);
        return await sendOnce({ request, url, proxy, stop, maxBodyBytes: limit, onData, reason, to }, fresh);
      } finally {
        clearTimeout(timer);
        signal?.removeEventListener('abort', onAbort);
        running.delete(stop);
      }
    },
    async close() {
      closed ??= new UsageError('the client is closed');
      for (const stop of running) stop.call(closed);
      for (const connections of opened) connections.end();
    },
  };
}
