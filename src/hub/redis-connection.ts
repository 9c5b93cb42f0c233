import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import type { RedisServer } from './redis-address.ts';

/** A command that takes longer has failed. */
export const commandMs = 1_000;
/** Connecting to a server takes at most this long. */
export const connectMs = 2_000;
/** After as many commands in a row that took too long, the connection is replaced. */
const mostTimeouts = 3;
/** Reconnections are at most this far apart. */
const longestPauseMs = 2_000;
/** How often a hub checks that its server is still the one with the name, or the master. */
const checkMs = 10_000;

/** The responses of a server that is not the master, or not yet, or that may have lost its replicas to another one. */
const wrongServer = /\b(?:READONLY|LOADING|MASTERDOWN|NOREPLICAS|UNBLOCKED)\b/;

class RedisTimeout extends Error {}

/** The client limits only the time until it has sent a command. */
export async function withinMs<Value>(ms: number, command: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    const fail = () => reject(new RedisTimeout(`Redis did not respond within ${ms / 1000} s`));
    // A response that arrived while the process was busy is read first.
    timer = setTimeout(() => setImmediate(fail), ms);
  });
  try {
    return await Promise.race([command, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

/** The part of a client that a session uses. It must not reconnect by itself. */
export interface SingleClient {
  connect(): Promise<unknown>;
  destroy(): void;
  hello(): Promise<unknown>;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

export function destroy(client: { destroy(): void }): void {
  try {
    client.destroy();
  } catch {
    // Version 5 throws if the client is closed already.
  }
}

/** Two connections to one server: a blocking read would hold up every other command on its own. */
export interface Session<Client> {
  readonly server: RedisServer;
  readonly commands: Client;
  readonly reader: Client;
  /** Aborted with the reason when the session ends. */
  readonly ended: AbortSignal;
  end(reason: unknown): void;
}

export const shown = ({ host, port }: RedisServer) => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** @throws ConfigError if the server can never be used, and an error if it is not the master */
function checkServer(server: RedisServer, { mode, role }: { mode?: unknown; role?: unknown }): void {
  const at = shown(server);
  if (mode === 'cluster') {
    throw new ConfigError(`hub: Redis Cluster is not supported: ${at}`, {
      hint: 'use one Redis server, or a master with replicas and Sentinel',
    });
  }
  if (mode === 'sentinel') {
    throw new ConfigError(`hub: the URL of Redis names a Sentinel: ${at}`, {
      hint: `write it as redis-sentinel://${at}#<name of the master>`,
    });
  }
  if (role === 'replica' || role === 'slave') throw new Error(`the Redis server is a replica: ${at}`);
}

/**
 * Connects to a server, and checks that it is a master.
 * @param create returns a client that is not connected
 */
export async function openSession<Client extends SingleClient>(
  server: RedisServer,
  create: (server: RedisServer) => Client,
): Promise<Session<Client>> {
  const ended = new AbortController();
  const [commands, reader] = [create(server), create(server)];
  const end = (reason: unknown) => {
    if (ended.signal.aborted) return;
    ended.abort(reason);
    for (const client of [commands, reader]) destroy(client);
  };
  const open = async (client: Client) => {
    // Without a listener the first lost connection would end the process.
    client.on('error', end);
    const connected = client.connect();
    // A client that is destroyed while it connects may connect nevertheless.
    const closeLate = () => ended.signal.aborted && destroy(client);
    connected.then(closeLate, closeLate);
    await withinMs(connectMs, connected);
    checkServer(server, (await withinMs(commandMs, client.hello())) as object);
  };
  try {
    await Promise.all([open(commands), open(reader)]);
  } catch (error) {
    end(error);
  }
  ended.signal.throwIfAborted();
  return { server, commands, reader, ended: ended.signal, end };
}

export interface Connection<Client> {
  /** Runs a command on one of the connections. It fails at once while there are none. */
  run<Value>(
    on: 'commands' | 'reader',
    ms: number,
    command: (client: Client) => Promise<Value>,
  ): Promise<Value>;
  /** Resolves when Redis is connected. @throws ConfigError if the server can never be used */
  ready(): Promise<void>;
  close(): void;
}

/**
 * Keeps a connection to the master. The connection is replaced when it is lost, when the server turns out to be the wrong
 * one or does not respond, and when the name moves to another server.
 * @param locate returns the servers that may be used, the first ones first
 * @param onError receives the reason each time that a connection is lost or fails
 */
export function keepConnected<Client extends SingleClient>(
  locate: () => Promise<readonly RedisServer[]>,
  open: (server: RedisServer) => Promise<Session<Client>>,
  onError: (error: unknown) => void,
  clock: Clock,
): Connection<Client> {
  const closing = new AbortController();
  let session: Session<Client> | null = null;
  let reason: unknown = new Error('Redis is not connected yet');
  let timeouts = 0;
  /** Connections that were lost or failed since the last command that succeeded. */
  let failures = 0;
  const waiting = new Set<{ resolve(): void; reject(error: unknown): void }>();

  const openAny = async () => {
    let failed: unknown = new Error('the name of Redis has no address');
    for (const server of await locate()) {
      try {
        return await open(server);
      } catch (error) {
        failed = error;
      }
    }
    throw failed;
  };
  const use = (next: Session<Client>) => {
    // Commands that are under way on the old connection get their responses.
    const previous = session;
    if (previous !== null) {
      const end = () => previous.end(new Error('the name of Redis moved to another server'));
      void clock.sleep(commandMs, closing.signal).then(end, end);
    }
    session = next;
    timeouts = 0;
    for (const { resolve } of waiting) resolve();
    waiting.clear();
  };
  /** Resolves when the server is no longer the right one; rejects with the reason when the session ends. */
  const untilMoved = async ({ server, ended }: Session<Client>) => {
    for (;;) {
      await clock.sleep(checkMs, ended);
      // While the right server is unknown, this one stays in use.
      const servers = await withinMs(connectMs, locate()).catch(() => [server]);
      if (!servers.some(({ host, port }) => host === server.host && port === server.port)) return;
    }
  };
  const keep = async () => {
    while (!closing.signal.aborted) {
      try {
        const next = await openAny();
        if (closing.signal.aborted) return next.end(closing.signal.reason);
        use(next);
        const lost = new Promise<never>((_, reject) => {
          next.ended.addEventListener('abort', () => reject(next.ended.reason));
          next.ended.throwIfAborted();
        });
        await Promise.race([lost, untilMoved(next)]);
      } catch (error) {
        if (closing.signal.aborted) return;
        if (session?.ended.aborted !== false) {
          session = null;
          reason = error;
          onError(error);
        }
        if (error instanceof ConfigError) {
          for (const { reject } of waiting) reject(error);
          waiting.clear();
        }
        await clock
          .sleep(Math.min(100 * 2 ** Math.min(failures, 10), longestPauseMs), closing.signal)
          .catch(() => {});
        failures += 1;
      }
    }
  };
  void keep();

  return {
    async run(on, ms, command) {
      if (session === null || session.ended.aborted) throw session?.ended.reason ?? reason;
      const current = session;
      try {
        const value = await withinMs(ms, command(current[on]));
        failures = 0;
        if (on === 'commands') timeouts = 0;
        return value;
      } catch (error) {
        current.ended.throwIfAborted();
        if (error instanceof RedisTimeout) {
          timeouts += 1;
          // The reader has waited long enough already.
          if (on === 'reader' || timeouts >= mostTimeouts) current.end(error);
        } else if (error instanceof Error && wrongServer.test(error.message)) current.end(error);
        throw error;
      }
    },
    ready: async () => {
      if (session !== null && !session.ended.aborted) return;
      await new Promise<void>((resolve, reject) => waiting.add({ resolve, reject }));
    },
    close() {
      closing.abort();
      session?.end(new Error('the connection to Redis is closed'));
    },
  };
}
