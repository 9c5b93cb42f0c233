import type { Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import type { RedisServer } from './redis-address.ts';
import {
  commandMs,
  connectMs,
  RedisTimeout,
  type Session,
  type SingleClient,
  withinMs,
} from './redis-session.ts';

/** After as many commands in a row that took too long, the connection is replaced. */
const mostTimeouts = 3;
/** Reconnections are at most this far apart. */
const longestPauseMs = 2_000;
/** How often a hub checks that its server is still the one with the name, or the master. */
const checkMs = 10_000;

/** The responses of a server that is not the master, or not yet, or that may have lost its replicas to another one. */
const wrongServer = /\b(?:READONLY|LOADING|MASTERDOWN|NOREPLICAS|UNBLOCKED)\b/;

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
