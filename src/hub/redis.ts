import { lookup as lookupName } from 'node:dns/promises';
import { isIP } from 'node:net';
import type { SecureContext } from 'node:tls';
import { type Clock, systemClock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { type ReplayStore, redisStore } from '../webhook/replay.ts';
import { parseRedisUrl, type RedisAddress, type RedisServer } from './redis-address.ts';
import { budgetScript, type RunScript } from './redis-budget.ts';
import { keepConnected } from './redis-connection.ts';
import { masterOf } from './redis-sentinel.ts';
import { commandMs, connectMs, openSession } from './redis-session.ts';
import { announceScript, type WakeCommands } from './wakes.ts';

/** A connection without any data for this long is replaced. */
const idleMs = 15_000;
/** A read of the stream waits this long for an entry. */
const blockMs = 5_000;

/** The version of the values in Redis. Hubs of versions that differ in it share nothing. */
const format = 1;
export const defaultPrefix = 'rungate';

/** Loads the client, an optional peer dependency. A version before 5 has other scripts and no `RESP_TYPES`. */
async function loadClient(): Promise<typeof import('@redis/client')> {
  const client = await import('@redis/client').catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return null;
  });
  if (client?.RESP_TYPES !== undefined) return client;
  throw new ConfigError('hub: Redis needs a package that is not installed: @redis/client 5 or later', {
    hint: 'run npx -p rungate -p @redis/client rungate hub …, or npm install @redis/client where rungate is installed',
  });
}

/** The commands of the hub. The keys are names such as `state`: all keys in Redis get the same beginning here. */
export interface HubRedis {
  readonly budget: RunScript;
  readonly wakes: WakeCommands;
  /** The deliveries that were received. */
  readonly replays: ReplayStore;
  /** Resolves when Redis is connected. @throws ConfigError if the server can never be used, such as one of a cluster */
  ready(): Promise<void>;
  close(): void;
}

export interface RedisOptions {
  /** The beginning of all keys. */
  prefix?: string;
  /** Receives the reason each time that a connection is lost or fails. */
  onError?(error: unknown): void;
  /** The certificates to trust. */
  secureContext?: SecureContext | undefined;
  clock?: Clock;
  /** Returns the addresses of a name. */
  lookup?(host: string): Promise<string[]>;
}

const addressesOf = async (host: string) =>
  (await lookupName(host, { all: true })).map(({ address }) => address);

/**
 * Connects to Redis in the background, again and again, and never keeps a command for later: while Redis is away each
 * one fails at once.
 * @throws ConfigError if the package @redis/client is not installed
 * @param url one that `parseRedisUrl` can read
 */
export async function connectRedis(
  url: string,
  {
    prefix = defaultPrefix,
    onError = () => {},
    secureContext,
    clock = systemClock,
    lookup = addressesOf,
  }: RedisOptions = {},
): Promise<HubRedis> {
  const { createClient, defineScript } = await loadClient();
  const key = (name: string) => `{${prefix}:hub:${format}}:${name}`;
  const script = (text: string, keys: number) =>
    defineScript({
      SCRIPT: text,
      NUMBER_OF_KEYS: keys,
      parseCommand(parser, names: string[], args: string[]) {
        for (const name of names) parser.pushKey(key(name));
        for (const arg of args) parser.push(arg);
      },
      transformReply: (response: unknown) => response,
    });
  const { tls, credentials, database, servers, sentinel } = parseRedisUrl(url) as RedisAddress;
  const common = {
    // The default depends on the version of the client.
    RESP: 2 as const,
    // Each connection sends only commands that a list of permissions can name.
    disableClientInfo: true,
    maintNotifications: 'disabled' as const,
    disableOfflineQueue: true,
    commandOptions: { timeout: commandMs },
  };
  const socket = {
    ...(tls && { tls: true as const, ...(secureContext && { secureContext }) }),
    connectTimeout: connectMs,
    socketTimeout: idleMs,
    reconnectStrategy: false as const,
  };
  const [{ host: name, port }] = servers;
  const locate = async (): Promise<RedisServer[]> => {
    if (sentinel === null) return (await lookup(name)).map((host) => ({ host, port }));
    const connectSentinel = (server: RedisServer) =>
      createClient({ ...common, ...sentinel.credentials, socket: { ...socket, ...server } });
    return [await masterOf(servers, sentinel.master, connectSentinel)];
  };
  const create = (server: RedisServer) =>
    createClient({
      ...common,
      ...credentials,
      database,
      // A certificate has the name, not its address.
      socket: {
        ...socket,
        ...(tls && sentinel === null && isIP(name) === 0 && { servername: name }),
        ...server,
      },
      scripts: { budget: script(budgetScript(), 6), announce: script(announceScript, 2) },
    });
  const { run, ready, close } = keepConnected(
    locate,
    (server) => openSession(server, create),
    onError,
    clock,
  );

  type Client = ReturnType<typeof create>;
  const command = <Value>(call: (client: Client) => Promise<Value>) => run('commands', commandMs, call);
  return {
    replays: {
      setIfAbsent: (name, ttlMs) => command((client) => redisStore(client).setIfAbsent(key(name), ttlMs)),
      delete: (name) => command((client) => redisStore(client).delete(key(name))),
    },
    budget: async (keys, args) =>
      (await command((client) => client.budget(keys, args))) as Awaited<ReturnType<RunScript>>,
    wakes: {
      announce: (keys, args) => command((client) => client.announce(keys, args)),
      scores: (name, members) => command((client) => client.zmScore(key(name), [...members])),
      async time() {
        const time = await command((client) => client.sendCommand(['TIME']));
        const [seconds, microseconds] = time as unknown as [string, string];
        return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
      },
      async read(name, after) {
        const streams = await run('reader', blockMs + commandMs, (client) =>
          client.xRead({ key: key(name), id: after }, { BLOCK: blockMs, COUNT: 100 }),
        );
        const entries = (
          streams as { messages: { id: string; message: Record<string, string> }[] }[] | null
        )?.[0];
        return entries?.messages.map(({ id, message }) => ({ id, fields: message })) ?? null;
      },
    },
    ready,
    close,
  };
}
