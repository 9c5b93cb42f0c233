import { UsageError } from '../errors.ts';
import { type Connections, openConnections } from './connections.ts';
import { type Hop, sendHop } from './hop.ts';
import { timeoutError } from './network-error.ts';
import { proxyTimeout } from './proxy-error.ts';
import { redirectTarget } from './redirect.ts';
import { Turns } from './semaphore.ts';
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
}

/** A timer's largest delay: beyond it Node fires at once. */
const longestTimer = 2 ** 31 - 1;

/** Connections at once: thirty runs that are cancelled together take turns rather than open thirty. */
const mostConnections = 16;

/** The transport over real sockets. Connections are opened when they are first needed. */
export function httpTransport(options: TransportOptions = {}): Transport {
  const opened = new Set<Connections>();
  const running = new Set<Stop>();
  let closed: UsageError | null = null;
  const turns = new Turns(mostConnections);
  const { caPem, maxBodyBytes = 16 * 1024 * 1024, connectTimeoutMs: timeoutMs = 10_000 } = options;
  // Only who brings certificates pays for loading TLS before the first request.
  const trust =
    caPem === undefined ? undefined : import('./trust.ts').then(({ trustAlso }) => trustAlso(caPem));
  trust?.catch(() => {});

  async function open(secure: boolean, proxy: URL | null, keep: boolean): Promise<Connections> {
    const context = await trust;
    const way = proxy === null ? undefined : await import('./tunnel.ts');
    const connections = await openConnections({
      secure,
      context,
      timeoutMs,
      keep,
      tunnel:
        way === undefined || proxy === null
          ? undefined
          : (target, stop, track) => way.openTunnel({ proxy, context, timeoutMs }, target, stop, track),
    });
    opened.add(connections);
    if (closed !== null) connections.end();
    return connections;
  }

  const shared = new Map<string, Promise<Connections>>();
  function kept(secure: boolean, proxy: URL | null): Promise<Connections> {
    const key = `${secure} ${proxy?.href ?? ''}`;
    const connections = shared.get(key) ?? open(secure, proxy, true);
    shared.set(key, connections);
    return connections;
  }

  /** One try. A redirect stays within the origin, and so do the proxy and the connections. */
  async function attempt(hop: Hop, fresh: boolean): Promise<RawReply> {
    if (!turns.take() && !(await turns.wait(hop.stop))) throw hop.reason(false);
    const secure = hop.url.protocol === 'https:';
    let own: Connections | undefined;
    try {
      if (fresh) own = await open(secure, hop.proxy, false);
      const { agent } = own ?? (await kept(secure, hop.proxy));
      for (let hops = 0; ; hops += 1) {
        const reply = await sendHop(agent, hop);
        const { status, headers } = reply;
        const next = redirectTarget(
          { status, location: headers.location },
          hop.request.method,
          hop.url,
          hops,
        );
        if (next === undefined) return hops === 0 ? reply : { ...reply, finalUrl: hop.url.href };
        hop.url = next;
      }
    } finally {
      turns.leave();
      if (own !== undefined) {
        opened.delete(own);
        own.end();
      }
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
          ? timeoutError(url, started, timeoutMs)
          : proxyTimeout(url, proxy, timeoutMs);
      };
      try {
        const most = Math.min(maxBodyBytes, request.maxReplyBytes ?? maxBodyBytes);
        return await attempt({ request, url, proxy, stop, maxBodyBytes: most, reason }, fresh);
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
