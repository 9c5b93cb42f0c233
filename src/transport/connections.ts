import { getDefaultAutoSelectFamilyAttemptTimeout, isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { Agent, buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { ProxyFault } from './network-error.ts';
import { proxyAuthorization } from './proxy.ts';

/**
 * How long one of several addresses may take to connect before Node gives up on it and uses the next. Node's default,
 * 250 ms, is shorter than a round trip to another continent, and the next address is often an unreachable IPv6 address.
 */
const addressMs = Math.max(1500, getDefaultAutoSelectFamilyAttemptTimeout());

/** Requests beyond these wait for a free connection: cancelling 30 runs together does not open 30. */
const connections = 16;

/** undici's own timeouts are off: `send` limits the time of each request. */
const limits = { connections, headersTimeout: 0, bodyTimeout: 0 };

/** Longer than the longest usual poll interval, so that the next poll can reuse its connection. */
const idle = { pipelining: 1, keepAliveTimeout: 75_000, keepAliveMaxTimeout: 600_000 };

/** Makes undici close each connection after its request. */
const closing = { pipelining: 0 };

/** A connector of undici. It returns the socket immediately, although its public type does not say so. */
type Connector = (...args: Parameters<buildConnector.connector>) => Socket;

/** Connections to a proxy; CONNECT turns one into a tunnel. */
class ProxyPool extends Pool {
  /** @throws ProxyFault unless the proxy responds with a 2xx; any 2xx means that the tunnel is open (RFC 9110, 9.3.6). */
  override connect(options: Dispatcher.ConnectOptions): Promise<Dispatcher.ConnectData> {
    return new Promise((resolve, reject) => {
      this.dispatch(
        { ...options, method: 'CONNECT' },
        {
          onRequestStart() {},
          onRequestUpgrade(_, status, headers, socket) {
            const open = status >= 200 && status < 300;
            // undici would parse such data as a response and open one tunnel after the other.
            const early =
              open && socket.readableLength > 0 ? new Error('the proxy sent unexpected data') : undefined;
            if (open && early === undefined) {
              // ProxyAgent accepts no other 2xx.
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
 * Returns an agent that reaches every target through a CONNECT tunnel, whatever the target's scheme, so that the proxy
 * never sees a request or a credential for the service. If the proxy opens no tunnel, connecting fails with ProxyFault.
 * @param connect opens the connections to the proxy
 * @param timeoutMs how long the proxy may take to respond
 */
function proxyAgent(
  proxy: URL,
  options: Omit<ProxyAgent.Options, 'uri'>,
  connect: Connector,
  timeoutMs: number,
): ProxyAgent {
  const token = proxyAuthorization(proxy);
  // Otherwise ProxyAgent sends the target's host name as SNI to a proxy with an IP address.
  const toProxy: Connector = ({ servername: _, ...target }, callback) =>
    connect(isIP(target.hostname) ? target : { ...target, servername: target.hostname }, callback);
  return new ProxyAgent({
    ...options,
    // ProxyAgent ignores a user name without a password in the address.
    uri: proxy.origin,
    ...(token !== null && { token }),
    clientFactory: (origin) => new ProxyPool(origin, { connect: toProxy, headersTimeout: timeoutMs }),
  });
}

export interface ConnectionsOptions {
  /** The proxy in front of the service, or null. */
  proxy: URL | null;
  /** The authorities and the client certificate for the service; undefined uses the authorities that Node trusts. */
  context: SecureContext | undefined;
  /** The authorities for the proxy, which never sees the client certificate. */
  proxyContext: SecureContext | undefined;
  /** The time limit for each step of opening a connection, in milliseconds. */
  timeoutMs: number;
}

/** The open connections to the service, direct or through one proxy. */
export interface Connections {
  /** Keeps connections open for later requests. */
  readonly pooled: Dispatcher;
  /** Opens a new connection for each request and closes it afterwards. */
  readonly fresh: Dispatcher;
  /** Closes all connections, including those in use and those still being opened. */
  end(): void;
}

export function openConnections({
  proxy,
  context,
  proxyContext,
  timeoutMs,
}: ConnectionsOptions): Connections {
  const sockets = new Set<Socket>();
  const tlsWith = (secureContext: SecureContext | undefined) => ({
    timeout: timeoutMs,
    autoSelectFamilyAttemptTimeout: addressMs,
    // Otherwise NODE_TLS_REJECT_UNAUTHORIZED=0 would send the credentials to any certificate.
    rejectUnauthorized: true,
    ...(secureContext && { secureContext }),
  });
  const tls = tlsWith(context);
  const connector = buildConnector(proxy === null ? tls : tlsWith(proxyContext)) as Connector;
  // Destroying an agent does not close a connection that is still being opened.
  const connect: Connector = (target, callback) => {
    // Only the timer of a request keeps the process alive; an abandoned connection must not.
    const socket = connector(target, callback).unref();
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const open = (reuse: object): Dispatcher =>
    proxy === null
      ? new Agent({ ...limits, ...reuse, connect })
      : proxyAgent(proxy, { ...limits, ...reuse, requestTls: tls }, connect, timeoutMs);
  const [pooled, fresh] = [open(idle), open(closing)];
  return {
    pooled,
    fresh,
    end() {
      for (const agent of [pooled, fresh]) void agent.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}
