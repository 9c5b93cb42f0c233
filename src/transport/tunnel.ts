import { type AgentOptions, type ClientRequestArgs, request as requestPlain } from 'node:http';
import { isIP, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { addressMs, type Track } from './connections.ts';
import { span } from './network-error.ts';
import { proxyAuthorization } from './proxy.ts';
import { ProxyFault } from './proxy-error.ts';
import type { Stop } from './stop.ts';

export interface TunnelOptions {
  proxy: URL;
  /** Trust in other authorities than those that Node trusts, for a proxy that is reached by `https:`. */
  context: SecureContext | undefined;
  /** How long the proxy may take from the first packet to its answer. */
  timeoutMs: number;
}

/** Node hands on to the socket what its types have for agents alone. */
const connecting: AgentOptions = { autoSelectFamilyAttemptTimeout: addressMs };

/** `::1` has brackets in a URL and in CONNECT, and none where a host is looked up. */
const bracketed = (host: string) => (host.includes(':') && !host.startsWith('[') ? `[${host}]` : host);

/**
 * A tunnel through the proxy to the target: CONNECT, whatever the target's scheme, so that a proxy never sees a
 * request or a credential of ours.
 * @throws ProxyFault when there is none
 */
export async function openTunnel(
  { proxy, context, timeoutMs }: TunnelOptions,
  target: ClientRequestArgs,
  stop: Stop,
  track: Track,
): Promise<Socket> {
  const secure = proxy.protocol === 'https:';
  const request = secure ? (await import('node:https')).request : requestPlain;
  const to = `${bracketed(target.host ?? '')}:${target.port}`;
  const token = proxyAuthorization(proxy);
  return new Promise((resolve, reject) => {
    const hostname = proxy.hostname.replace(/^\[|\]$/g, '');
    const asked = request({
      hostname,
      // Node takes the name that a certificate must be for from the Host header, and that is the target here.
      servername: isIP(hostname) === 0 ? hostname : '',
      port: proxy.port,
      method: 'CONNECT',
      path: to,
      headers: {
        host: to,
        connection: 'keep-alive',
        ...(token === null ? {} : { 'proxy-authorization': token }),
      },
      agent: false,
      ...connecting,
      ...(secure && context !== undefined ? { secureContext: context } : {}),
    });
    const giveUp = () => asked.destroy(new Error('given up'));
    const timer = setTimeout(() => asked.destroy(new Error(`timed out after ${span(timeoutMs)}`)), timeoutMs);
    const settle = (outcome: () => void) => {
      clearTimeout(timer);
      stop.off(giveUp);
      outcome();
    };
    asked.once('socket', track);
    asked.once('connect', ({ statusCode = 0 }, duplex, head) => {
      // A tunnel's own socket, plain or TLS, as `request` made it.
      const socket = duplex as Socket;
      // Any 2xx is a tunnel (RFC 9110, 9.3.6).
      if (statusCode >= 200 && statusCode < 300) {
        if (head.length > 0) socket.unshift(head);
        settle(() => resolve(socket));
        return;
      }
      socket.on('error', () => {}).destroy();
      settle(() => reject(new ProxyFault(statusCode)));
    });
    asked.on('error', (cause) => settle(() => reject(new ProxyFault(null, cause))));
    stop.on(giveUp);
    if (stop.called) giveUp();
    asked.end();
  });
}
