import { Agent, type ClientRequestArgs } from 'node:http';
import { getDefaultAutoSelectFamilyAttemptTimeout, type Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { span } from './network-error.ts';
import type { Stop } from './stop.ts';

/** Longer than the longest usual poll interval, so that a poll finds its connection open. */
const idleMs = 75_000;

/**
 * How long one address of several may take before the next is tried, and this one given up. Node's own 250 ms are less
 * than the way to another continent and back takes, and the next one is often an IPv6 address that leads nowhere.
 */
export const addressMs = Math.max(1500, getDefaultAutoSelectFamilyAttemptTimeout());

/** The open connections to one origin, straight or through one proxy. */
export interface Connections {
  readonly agent: Agent;
  /** Ends all of them, also one that is in use or still being made. */
  end(): void;
}

export interface ConnectionsOptions {
  /** The origin is `https:`. */
  secure: boolean;
  /** Trust in other authorities than those that Node trusts. */
  context: SecureContext | undefined;
  /** How long each step of making a connection may take. */
  timeoutMs: number;
  /** Keep connections for later requests; else each has one request. */
  keep: boolean;
  /** Makes the way to the service where it is not a straight one: a tunnel through a proxy. */
  tunnel?: ((target: ClientRequestArgs, stop: Stop, track: Track) => Promise<Socket>) | undefined;
}

/** Notes a socket, so that it ends with the connections. */
export type Track = <S extends Socket>(socket: S) => S;

/** What a request says to the agent beyond what Node knows: given up, it needs no connection any more. */
export interface HopArgs extends ClientRequestArgs {
  stop: Stop;
}

/** Waits until a socket is connected, or secure. It is destroyed when that takes too long, or is given up. */
export function connected<S extends Socket>(
  socket: S,
  event: 'connect' | 'secureConnect',
  timeoutMs: number,
  stop: Stop,
): Promise<S> {
  return new Promise((resolve, reject) => {
    const giveUp = () => socket.destroy(new Error('given up'));
    const timer = setTimeout(
      () => socket.destroy(new Error(`timed out after ${span(timeoutMs)}`)),
      timeoutMs,
    );
    const settle = (outcome: () => void) => () => {
      clearTimeout(timer);
      stop.off(giveUp);
      outcome();
    };
    socket.once(
      event,
      settle(() => resolve(socket)),
    );
    socket.once('error', (error) => settle(() => reject(error))());
    // Without an error: the peer ended it in good order, before it was what it should be.
    socket.once(
      'close',
      settle(() => reject(new Error('the connection was closed'))),
    );
    stop.on(giveUp);
    if (stop.called) giveUp();
  });
}

/**
 * Connections over Node's own agent. A request is given its connection when that is there and, for `https:`, the
 * certificate has been checked: the request's `socket` event says that its first byte is about to be written.
 */
export async function openConnections(options: ConnectionsOptions): Promise<Connections> {
  const { secure, context, timeoutMs, keep, tunnel } = options;
  const settings = { keepAlive: keep, timeout: idleMs, autoSelectFamilyAttemptTimeout: addressMs };
  // A plain connection does not pay for loading TLS.
  const agent = secure
    ? new (await import('node:https')).Agent({ ...settings, ...(context && { secureContext: context }) })
    : new Agent(settings);
  const sockets = new Set<Socket>();
  const track: Track = (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };

  const connect = agent.createConnection.bind(agent) as (target: object) => Socket;
  async function make(target: HopArgs): Promise<Socket> {
    const { stop } = target;
    const way = tunnel && { socket: await tunnel(target, stop, track) };
    if (way !== undefined && !secure) return way.socket;
    const socket = track(connect({ ...target, ...way }));
    return connected(socket, secure ? 'secureConnect' : 'connect', timeoutMs, stop);
  }
  agent.createConnection = (target, done) => {
    make(target as HopArgs).then(
      (socket) => done?.(null, socket),
      (error) => done?.(error, undefined as never),
    );
    return undefined;
  };

  // What comes while nobody has asked would be taken for the reply to the next request.
  const unasked = function (this: Socket) {
    this.destroy();
  };
  const keepAlive = agent.keepSocketAlive.bind(agent);
  agent.keepSocketAlive = (socket) => {
    socket.on('data', unasked);
    return keepAlive(socket);
  };
  const reuse = agent.reuseSocket.bind(agent);
  agent.reuseSocket = (socket, request) => {
    socket.off('data', unasked);
    reuse(socket, request);
  };

  return {
    agent,
    end() {
      agent.destroy();
      for (const socket of sockets) socket.destroy();
    },
  };
}
