import { HttpError, UsageError } from '../errors.ts';
import { commandNames, type HintNames } from '../hint-names.ts';
import { parseUrl } from '../parse-url.ts';
import { type Connections, openConnections } from './connections.ts';
import { type Hop, sendHop } from './hop.ts';
import { proxyTimeout, timeoutError } from './network-error.ts';
import { Stop } from './stop.ts';
import type { RawReply, Transport } from './transport.ts';

export type { RawReply, SendOptions, Transport } from './transport.ts';

export interface TransportOptions {
  /** For each step of making a connection. Default 10 s. */
  connectTimeoutMs?: number | undefined;
  /** What a response may have, unless its endpoint has a lower limit; default 16 MiB. */
  maxBodyBytes?: number | undefined;
  /** Certificates (PEM) to trust besides those that Node trusts (`trustAlso`). */
  caPem?: string | undefined;
  /** The proxy that a request goes through (`proxyFor`), null for none; default none ever. */
  proxy?: ((target: URL) => URL | null) | undefined;
  /** What errors call the settings; default the names of the command line. */
  names?: HintNames | undefined;
}

/** More hops than any sane set-up needs. */
const maxRedirects = 5;

const moved: readonly number[] = [301, 302, 303];
const kept: readonly number[] = [307, 308];

/**
 * Where a reply sends us, or undefined when it is no redirect.
 * Only within the origin, since the credential goes along; a GET follows any redirect, another method only
 * those that keep method and body.
 * @param hops redirects already followed
 * @throws HttpError for a redirect that is not followed
 */
function redirectTarget(
  reply: { status: number; location: string | undefined },
  method: string,
  from: URL,
  hops: number,
  { apiUrl }: HintNames,
): URL | undefined {
  const { status, location } = reply;
  if (location === undefined || !(moved.includes(status) || kept.includes(status))) return undefined;
  const problem = (what: string, hint?: string) =>
    new HttpError(`the service redirects ${what}`, { status, hint });
  const to = parseUrl(location, from.href);
  if (to === null) throw problem(`(${status}) to something that is not an address`);
  to.username = '';
  to.password = '';
  to.hash = '';
  if (to.origin !== from.origin) {
    const place = to.origin === 'null' ? `a ${to.protocol} address` : to.origin;
    const hint = `the credential is not sent there; if ${place} is the service, set ${apiUrl} to it`;
    throw problem(`(${status}) to another origin, ${place}`, hint);
  }
  if (method !== 'GET' && moved.includes(status)) {
    const hint = `set ${apiUrl} so that it needs no redirect; this one leads to ${to.pathname}`;
    throw problem(`(${status}) a ${method}, which would lose its body`, hint);
  }
  if (hops >= maxRedirects) {
    throw problem(`in circles: more than ${maxRedirects} times`, `check the path in ${apiUrl}`);
  }
  return to;
}

/** A timer's largest delay: beyond it Node fires at once. */
const longestTimer = 2 ** 31 - 1;

/** The transport over real sockets. Connections are opened when they are first needed. */
export function httpTransport(options: TransportOptions = {}): Transport {
  const opened = new Set<Connections>();
  const running = new Set<Stop>();
  let closed: UsageError | null = null;
  const { caPem, maxBodyBytes = 16 * 1024 * 1024, connectTimeoutMs: timeoutMs = 10_000 } = options;
  const { names = commandNames } = options;
  // Load TLS up front only when custom certificates are configured.
  const trust =
    caPem === undefined ? undefined : import('./trust.ts').then(({ trustAlso }) => trustAlso(caPem));
  trust?.catch(() => {});

  async function open(proxy: URL | null): Promise<Connections> {
    const connections = openConnections({ proxy, context: await trust, timeoutMs });
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

  /** One attempt. A redirect stays within the origin, and so do the proxy and the connections. */
  async function attempt(hop: Hop, fresh: boolean): Promise<RawReply> {
    const connections = await connectionsFor(hop.proxy);
    for (let hops = 0; ; hops += 1) {
      const reply = await sendHop(fresh ? connections.fresh : connections.kept, hop);
      const { status, headers } = reply;
      const { location } = headers;
      const next = redirectTarget({ status, location }, hop.request.method, hop.url, hops, names);
      if (next === undefined) return hops === 0 ? reply : { ...reply, finalUrl: hop.url.href };
      hop.url = next;
    }
  }

  return {
    async send(request, { signal, timeoutMs, fresh = false }) {
      signal?.throwIfAborted();
      if (closed !== null) throw closed;
      const { url } = request;
      const proxy = options.proxy?.(url) ?? null;
      const stop = new Stop();
      const onAbort = () => stop.call(signal?.reason);
      const late = Symbol('late');
      const timer = setTimeout(() => stop.call(late), Math.min(timeoutMs, longestTimer));
      signal?.addEventListener('abort', onAbort, { once: true });
      running.add(stop);
      const reason = (started: boolean) => {
        if (stop.reason !== late) return stop.reason;
        return proxy === null || started
          ? timeoutError(url, started, timeoutMs, names)
          : proxyTimeout(url, proxy, timeoutMs);
      };
      try {
        const most = Math.min(maxBodyBytes, request.maxReplyBytes ?? maxBodyBytes);
        return await attempt({ request, url, proxy, stop, maxBodyBytes: most, reason, names }, fresh);
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
