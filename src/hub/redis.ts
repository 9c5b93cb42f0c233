import type { SecureContext } from 'node:tls';
import { type Clock, systemClock } from '../clock.ts';
import { ConfigError, messageOf } from '../errors.ts';
import { logScript, type RunLog } from './budget.ts';
import { parseRedisUrl, type RedisAddress, type RedisServer } from './redis-address.ts';

/** A command that takes longer has failed. The client limits only the time until it has sent it. */
const commandMs = 1_000;
/** Connecting takes at most this long, with the questions to the Sentinels. */
const connectMs = 5_000;
/** After as many commands in a row that took too long, the connection is replaced. */
const mostTimeouts = 3;
/** Reconnections are this far apart: each takes the client library a quarter of a second of processor time. */
const shortestPauseMs = 500;
const longestPauseMs = 2_000;
/** The version of the values in Redis. Hubs of versions that differ in it share nothing. */
const format = 2;
export const defaultPrefix = 'rungate';

/** Loads the client, an optional peer dependency. A version before 5 has no `createSentinel`. */
async function loadClient(): Promise<typeof import('@redis/client')> {
  const client = await import('@redis/client').catch((error) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return null;
  });
  if (client?.createSentinel !== undefined) return client;
  const problem =
    client === null
      ? 'a package that is not installed: @redis/client 5 or later'
      : '@redis/client 5 or later, but an older version is installed';
  throw new ConfigError(`hub: Redis needs ${problem}`, {
    hint: 'run npx -p rungate -p @redis/client rungate hub …, or npm install @redis/client where rungate is installed',
  });
}

/** Runs one command. */
type Command = (args: string[]) => Promise<unknown>;

/**
 * Connects to the server, or to the master that the Sentinels name.
 * @param stop ends the connection, also while it is being made
 * @param onLost receives the reason when the connection is lost; it never comes back by itself
 */
type Connect = (stop: AbortSignal, onLost: (error: unknown) => void) => Promise<Command>;

class RedisTimeout extends Error {}

async function withinMs<Value>(ms: number, command: Promise<Value>): Promise<Value> {
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

const shown = ({ host, port }: RedisServer) => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** Options of each connection. Only commands that a list of permissions can name are sent. */
const always = {
  // The default depends on the version of the client.
  RESP: 2 as const,
  disableClientInfo: true,
  maintNotifications: 'disabled' as const,
  disableOfflineQueue: true,
};

/** Returns a function that asks the Sentinels for the master. */
async function masterFinder(address: RedisAddress, tls: object): Promise<() => Promise<RedisServer>> {
  const { createSentinel } = await loadClient();
  const { credentials, database, servers, sentinel } = address;
  const socket = {
    ...tls,
    // Of several Sentinels, some may not respond.
    connectTimeout: commandMs,
    // Else a server that accepts connections and says nothing would keep this one open.
    socketTimeout: connectMs,
    reconnectStrategy: false as const,
  };
  return async () => {
    const sentinels = createSentinel({
      name: sentinel?.master ?? '',
      sentinelRootNodes: servers,
      RESP: 2,
      maxCommandRediscovers: 0,
      nodeClientOptions: { ...always, ...credentials, database, socket },
      sentinelClientOptions: { ...always, ...sentinel?.credentials, socket },
    });
    // Each Sentinel that fails is one such error. Without a listener, the process would end.
    const problems: string[] = [];
    sentinels.on('error', (error) => problems.push(messageOf(error)));
    try {
      await sentinels.connect();
      const master = sentinels.getMasterNode();
      if (master === undefined) throw new Error('the Sentinels do not know the master');
      return master;
    } catch (error) {
      throw new Error([...new Set([messageOf(error), ...problems])].join(': '), { cause: error });
    } finally {
      sentinels.destroy().catch(() => {});
    }
  };
}

async function connectorOf(
  address: RedisAddress,
  secureContext: SecureContext | undefined,
): Promise<Connect> {
  const { createClient } = await loadClient();
  const { credentials, database, servers, sentinel } = address;
  const tls = address.tls && { tls: true as const, ...(secureContext && { secureContext }) };
  const findMaster = sentinel === null ? async () => servers[0] : await masterFinder(address, { ...tls });
  return async (stop, onLost) => {
    const server = await findMaster();
    stop.throwIfAborted();
    const socket = { ...tls, ...server, connectTimeout: connectMs, reconnectStrategy: false as const };
    const client = createClient({ ...always, ...credentials, database, socket });
    // Without a listener, the first lost connection would end the process.
    client.on('error', onLost);
    // A client that is closed already throws, or rejects.
    stop.addEventListener(
      'abort',
      () =>
        void Promise.resolve()
          .then(() => client.destroy())
          .catch(() => {}),
    );
    await client.connect();
    const command: Command = (args) => client.sendCommand(args);
    await checkServer(command, address);
    return command;
  };
}

/** @throws ConfigError if the server can never be used, and an error if it is not a master */
async function checkServer(command: Command, { servers }: RedisAddress): Promise<void> {
  const hello = (await withinMs(commandMs, command(['HELLO']))) as unknown[];
  const field = (name: string) => hello[hello.indexOf(name) + 1];
  const at = servers.map(shown).join(',');
  if (field('mode') === 'cluster') {
    throw new ConfigError(`hub: Redis Cluster is not supported: ${at}`, {
      hint: 'use one Redis server, or a master with replicas and Sentinel',
    });
  }
  if (field('mode') === 'sentinel') {
    throw new ConfigError(`hub: the URL of Redis names a Sentinel: ${at}`, {
      hint: `write it as redis-sentinel://${at}#<name of the master>`,
    });
  }
  if (field('role') !== 'master') throw new Error(`the Redis server is a replica: ${at}`);
}

export interface RedisOptions {
  /** The beginning of all keys. */
  prefix?: string;
  /** Receives the reason each time that a connection is lost or fails. */
  onError?(error: unknown): void;
  /** The certificates to trust. */
  secureContext?: SecureContext | undefined;
  clock?: Clock;
}

/** Responses after which another server may be the right one. */
const wrongServer = /^(?:READONLY|LOADING|MASTERDOWN|NOREPLICAS|UNBLOCKED|MOVED)\b/;
const isReply = (error: unknown): error is Error => error instanceof Error && /^[A-Z]+ /.test(error.message);
/** Whether the right server has refused a command, such as one that the user may not use. */
export const isRefused = (error: unknown): boolean => isReply(error) && !wrongServer.test(error.message);

/** Keeps one connection to the master, and replaces it when it is lost or its server turns out to be the wrong one. */
class Connection {
  readonly #connect: Connect;
  readonly #onError: (error: unknown) => void;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #command: Command | null = null;
  #reason: unknown = new Error('Redis is not connected yet');
  #timeouts = 0;
  #end: (error: unknown) => void = () => {};
  #isReady: () => void = () => {};
  #isUseless: (error: unknown) => void = () => {};
  readonly ready = new Promise<void>((resolve, reject) => {
    this.#isReady = resolve;
    this.#isUseless = reject;
  });

  constructor(connect: Connect, onError: (error: unknown) => void, clock: Clock) {
    this.#connect = connect;
    this.#onError = onError;
    this.#clock = clock;
    this.ready.catch(() => {});
    void this.#keep();
  }

  /** Runs a command. It fails at once while there is no connection. */
  async run(args: string[]): Promise<unknown> {
    const command = this.#command;
    if (command === null) throw this.#reason;
    try {
      const value = await withinMs(commandMs, command(args));
      this.#timeouts = 0;
      return value;
    } catch (error) {
      if (command !== this.#command) throw error;
      if (error instanceof RedisTimeout) {
        this.#timeouts += 1;
        if (this.#timeouts >= mostTimeouts) this.#end(error);
      } else if (!isRefused(error)) this.#end(error);
      throw error;
    }
  }

  close(): void {
    this.#closing.abort();
    this.#end(new Error('the connection to Redis is closed'));
  }

  async #keep(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 0; !signal.aborted; failures += 1) {
      const life = new AbortController();
      const ended = new Promise<never>((_, reject) => {
        this.#end = reject;
      });
      ended.catch(() => {});
      try {
        const connecting = withinMs(connectMs, this.#connect(life.signal, this.#end));
        this.#command = await Promise.race([connecting, ended]);
        this.#timeouts = 0;
        failures = 0;
        this.#isReady();
        await ended;
      } catch (error) {
        this.#command = null;
        this.#reason = error;
        if (!signal.aborted) this.#onError(error);
        if (error instanceof ConfigError) this.#isUseless(error);
      }
      life.abort();
      const waitMs = Math.min(shortestPauseMs * 2 ** failures, longestPauseMs);
      await this.#clock.sleep(waitMs, signal).catch(() => {});
    }
  }
}

/** Puts the entry of a detached gate in place of another, and its sealed state; '' stands for none. */
const gateScript = `
local id, before, after, sealed, life = unpack(ARGV)
if (redis.call('HGET', KEYS[1], id) or '') ~= before then return 0 end
if after == '' then
  for _, key in ipairs(KEYS) do redis.call('HDEL', key, id) end
  return 1
end
redis.call('HSET', KEYS[1], id, after)
if sealed ~= '' then redis.call('HSET', KEYS[2], id, sealed) end
for _, key in ipairs(KEYS) do redis.call('PEXPIRE', key, life) end
return 1
`;

/** The commands of the hub. Each fails at once while Redis is away. */
export type HubRedis = Awaited<ReturnType<typeof connectRedis>>;

/**
 * Connects to Redis in the background, again and again.
 * @throws ConfigError if the package @redis/client is not installed, or too old
 * @param url one that `parseRedisUrl` can read
 */
export async function connectRedis(url: string, options: RedisOptions = {}) {
  const { prefix = defaultPrefix, onError = () => {}, secureContext, clock = systemClock } = options;
  const connect = await connectorOf(parseRedisUrl(url) as RedisAddress, secureContext);
  const connection = new Connection(connect, onError, clock);
  const key = (name: string) => `{${prefix}:hub:${format}}:${name}`;
  const run = (...args: (string | number)[]) => connection.run(args.map(String));
  const runLog: RunLog = async (args) =>
    (await run('EVAL', logScript, 1, key('log'), ...args)) as Awaited<ReturnType<RunLog>>;
  return {
    runLog,
    /** Adds ids to the stream of those that deliveries named. */
    async announce(ids: readonly string[], hub: string, kept: number, keptMs: number): Promise<void> {
      const add = (id: string) => run('XADD', key('wakes'), 'MAXLEN', '~', kept, '*', 'hub', hub, 'id', id);
      await Promise.all([...ids.map(add), run('PEXPIRE', key('wakes'), keptMs)]);
    },
    /** Returns the entries after one, at most 1,000 of them: the id of each, the hub that added it, and the id that it named. */
    async announced(after: string): Promise<readonly [entry: string, hub: string, id: string][]> {
      const streams = (await run('XREAD', 'COUNT', 1_000, 'STREAMS', key('wakes'), after)) as
        | [string, [string, string[]][]][]
        | null;
      return (streams?.[0]?.[1] ?? []).map(([entry, fields]) => [entry, fields[1] ?? '', fields[3] ?? '']);
    },
    /** Returns the wall time of Redis, in milliseconds since the epoch. */
    async time(): Promise<number> {
      const [seconds, microseconds] = (await run('TIME')) as [string, string];
      return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
    },
    gateEntries: async () => (await run('HVALS', key('gates'))) as string[],
    async gate(id: string): Promise<[entry: string, sealed: string]> {
      const [entry, sealed] = await Promise.all([
        run('HGET', key('gates'), id),
        run('HGET', key('sealed'), id),
      ]);
      return [String(entry ?? ''), String(sealed ?? '')];
    },
    replaceGate: async (
      ...args: [id: string, before: string, after: string, sealed: string, lifeMs: string]
    ) => (await run('EVAL', gateScript, 2, key('gates'), key('sealed'), ...args)) === 1,
    /** Resolves when Redis is connected. @throws ConfigError if the server can never be used, such as one of a cluster */
    ready: () => connection.ready,
    close: () => connection.close(),
  };
}
