import type { SecureContext } from 'node:tls';
import { HttpError, UsageError } from '../errors.ts';
import { parseUrl } from '../parse-url.ts';
import type { Receiver } from './address.ts';
import { type Connections, openConnections } from './connections.ts';
import { type Hop, sendHop } from './hop.ts';
import { proxyTimeout, timeoutError } from './network-error.ts';
import { type ProxyEnv, proxyFor } from './proxy.ts';
import { Stop } from './stop.ts';
import type { PreparedRequest, RawReply, SendOptions, Transport } from './transport.ts';
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
  /** The environment with the proxy variables (`proxyFor`). Default: always direct. */
  proxyEnv?: ProxyEnv | undefined;
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

/** The reason for stopping a request at its timeout. */
const timedOut = Symbol('timed out');

class HttpTransport implements Transport {
  readonly #options: TransportOptions;
  /** The trust of connections to the receiver, and to its proxy. */
  readonly #own: Promise<SecureContext> | undefined;
  readonly #trust: Promise<SecureContext> | undefined;
  /** By the URL of the proxy. */
  readonly #connections = new Map<string, Promise<Connections>>();
  readonly #running = new Set<Stop>();
  #closed: UsageError | null = null;

  constructor(options: TransportOptions) {
    const { to, caPem, certPem, keyPem = certPem } = options;
    if (certPem === undefined && keyPem !== undefined)
      throw new UsageError(`${to.keyFile} has no effect without ${to.certFile}`);
    this.#options = options;
    const identity = certPem === undefined ? undefined : { certPem, keyPem: keyPem ?? certPem, to };
    this.#trust = caPem === undefined ? undefined : trustAlso(caPem);
    this.#own = identity === undefined ? this.#trust : trustAlso(caPem, identity);
    for (const context of [this.#trust, this.#own]) context?.catch(() => {});
  }

  async send(request: PreparedRequest, options: SendOptions): Promise<RawReply> {
    const { signal, timeoutMs, timeoutHint, fresh = false, onData } = options;
    const { maxBodyBytes = 16 * 1024 * 1024, proxyEnv = {}, to } = this.#options;
    signal?.throwIfAborted();
    if (this.#closed !== null) throw this.#closed;
    const { url, maxReplyBytes = maxBodyBytes } = request;
    const proxy = proxyFor(url, proxyEnv);
    const stop = new Stop();
    const onAbort = () => stop.call(signal?.reason);
    const timer = setTimeout(() => stop.call(timedOut), Math.min(timeoutMs, longestTimer));
    signal?.addEventListener('abort', onAbort, { once: true });
    this.#running.add(stop);
    const reason = (started: boolean) => {
      if (stop.reason !== timedOut) return stop.reason;
      return proxy === null || started
        ? timeoutError(url, started, timeoutMs, to, timeoutHint)
        : proxyTimeout(url, proxy, timeoutMs);
    };
    try {
      const limit = Math.min(maxBodyBytes, maxReplyBytes);
      return await this.#follow(
        { request, url, proxy, stop, maxBodyBytes: limit, onData, reason, to },
        fresh,
      );
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
      this.#running.delete(stop);
    }
  }

  async close(): Promise<void> {
    this.#closed ??= new UsageError('the client is closed');
    for (const stop of this.#running) stop.call(this.#closed);
    await Promise.allSettled([...this.#connections.values()].map(async (opening) => (await opening).end()));
  }

  /** Sends one request. Redirects stay within the origin, so all hops share the proxy and the connections. */
  async #follow(hop: Hop, fresh: boolean): Promise<RawReply> {
    const { pooled, fresh: unused } = await this.#connectionsFor(hop.proxy);
    for (let hops = 0; ; hops += 1) {
      const response = await sendHop(fresh ? unused : pooled, hop);
      const { status, headers } = response;
      const { location } = headers;
      const next = redirectTarget({ status, location }, hop.request.method, hop.url, hops, hop.to);
      if (next === undefined) return response;
      hop.url = next;
    }
  }

  #connectionsFor(proxy: URL | null): Promise<Connections> {
    const key = proxy?.href ?? '';
    const connections = this.#connections.get(key) ?? this.#open(proxy);
    this.#connections.set(key, connections);
    return connections;
  }

  async #open(proxy: URL | null): Promise<Connections> {
    const { connectTimeoutMs: timeoutMs = 10_000 } = this.#options;
    const [context, proxyContext] = [await this.#own, await this.#trust];
    return openConnections({ proxy, context, proxyContext, timeoutMs });
  }
}

/** Returns a transport over real sockets, which opens connections when they are first needed. */
export const httpTransport = (options: TransportOptions): Transport => new HttpTransport(options);
