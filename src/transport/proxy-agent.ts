import { isIP, type Socket } from 'node:net';
import { type buildConnector, type Dispatcher, Pool, ProxyAgent } from 'undici';
import { proxyAuthorization } from './proxy.ts';
import { ProxyFault } from './proxy-error.ts';

/** A connector of undici: it returns the socket at once, which its public type leaves out. */
export type Connector = (...args: Parameters<buildConnector.connector>) => Socket;

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
export function proxyAgent(
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
