import { getDefaultAutoSelectFamilyAttemptTimeout, isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { ProxyFault } from './network-error.ts';
import { proxyAuthorization } from './proxy.ts';

/**
 * How long one address of several may take before the next is tried, and this one given up. Node's own 250 ms are less
 * than a round trip to another continent, and the next address is often an IPv6 address that leads nowhere.
 */
const addressMs = Math.max(1500, getDefaultAutoSelectFamilyAttemptTimeout());

/** Thirty runs that are cancelled together wait for a free connection instead of opening thirty. */
const connections = 16;

/** Each attempt has one time limit, which is not undici's. */
const limits = { connections, headersTimeout: 0, bodyTimeout: 0 };

/** Longer than the longest usual poll interval, so that a poll finds its connection open. */
const idle = { pipelining: 1, keepAliveTimeout: 75_000, keepAliveMaxTimeout: 600_000 };

/** undici ends each connection after its request. */
const closing = { pipelining: 0 };

/** A connector of undici: it returns the socket at once, which its public type leaves out. */
type Connector = (...args: Parameters<buildConnector.connector>) => Socket;

/** Connections to a proxy: CONNECT turns one into a tunnel. */
class ProxyPool extends Pool {
  /** @throws ProxyFault unless the proxy answers with a 2xx: any of them is a tunnel (RFC 9110, 9.3.6). */
  override connect(asked: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
    return new Promise((resolve, reject) => {
      this.dispatch(
        { ...asked, method: 'CONNECT' },
        {
          onRequestStart() {},
          onRequestUpgrade(_, status, headers, socket) {
            const open = status >= 200 && status < 300;
            // undici would take it for a response, and ask for one tunnel after the other.
            const early =
              open && socket.readableLength > 0 ? new Error('it sent data of its own') : undefined;
            if (open && early === undefined) {
              // ProxyAgent takes no other 2xx for a tunnel.
              resolve({ statusCode: 200, headers, socket, opaque: null });
              return;
            }
            socket.on('error', () => {}).destroy();
            reject(new ProxyFault(open ? null : status, early));
          },
          onResponseError: (_, cause) => reject(new ProxyFault(null, cause)),
        },
      );
    });
  }
}

/**
 * An agent whose connections are tunnels through the proxy: CONNECT, whatever the target's scheme, so that a proxy never
 * sees a request or a credential for the service. A connection fails with ProxyFault if there is no tunnel.
 * @param connect opens the connections to the proxy
 * @param timeoutMs how long the proxy may take to answer
 */
function proxyAgent(
  proxy: URL,
  options: Omit<ProxyAgent.Options, 'uri'>,
  connect: Connector,
  timeoutMs: number,
): ProxyAgent {
  const token = proxyAuthorization(proxy);
  // ProxyAgent names the target's host otherwise when the proxy is an IP address.
  const toProxy: Connector = ({ servername: _, ...target }, callback) =>
    connect(isIP(target.hostname) ? target : { ...target, servername: target.hostname }, callback);
  return new ProxyAgent({
    ...options,
    // ProxyAgent leaves out a user without a password.
    uri: proxy.origin,
    ...(token !== null && { token }),
    clientFactory: (origin) => new ProxyPool(origin, { connect: toProxy, headersTimeout: timeoutMs }),
  });
}

export interface ConnectionsOptions {
  /** The proxy between us and the service, or null. */
  proxy: URL | null;
  /** Trust in other authorities than those that Node trusts. */
  context: SecureContext | undefined;
  /** How long each step of making a connection may take, in milliseconds. */
  timeoutMs: number;
}

/** The open connections to the service, direct or through one proxy. */
export interface Connections {
  /** Keeps connections for later requests. */
  readonly kept: Dispatcher;
  /** Gives each request a connection that nothing was sent over before, and closes it afterwards. */
  readonly fresh: Dispatcher;
  /** Ends all connections, also one that is in use or still being made. */
  end(): void;
}

export function openConnections({ proxy, context, timeoutMs }: ConnectionsOptions): Connections {
  const sockets = new Set<Socket>();
  const tls = {
    timeout: timeoutMs,
    autoSelectFamilyAttemptTimeout: addressMs,
    ...(context && { secureContext: context }),
  };
  const connector = buildConnector(tls) as Connector;
  // Destroying an agent does not end a connection that is still being made.
  const connect: Connector = (target, callback) => {
    // The time limit of an attempt keeps the process alive, not a connection that nobody waits for any more.
    const socket = connector(target, callback).unref();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const open = (reuse: object): Dispatcher =>
    proxy === null
      ? new Agent({ ...limits, ...reuse, connect })
      : proxyAgent(proxy, { ...limits, ...reuse, requestTls: tls }, connect, timeoutMs);
  const [kept, fresh] = [open(idle), open(closing)];
  return {
    kept,
    fresh,
    end() {
      for (const agent of [kept, fresh]) void agent.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}
