import { getDefaultAutoSelectFamilyAttemptTimeout, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { Agent, buildConnector, type Dispatcher } from 'undici';
import { type Connector, proxyAgent } from './proxy-agent.ts';

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
