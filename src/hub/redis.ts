import type { SecureContext } from 'node:tls';
import { ConfigError } from '../errors.ts';
import { type ReplayStore, redisStore } from '../webhook/replay.ts';
import { budgetScript, type RunScript } from './redis-budget.ts';
import { announceScript, type WakeCommands } from './wakes.ts';

/** A command that takes longer has failed. */
const commandMs = 1_000;
/** A connection without any data for this long is replaced. */
const idleMs = 15_000;
/** A read of the stream waits this long for an entry. */
const blockMs = 5_000;
/** Reconnections are at most this far apart. */
const longestReconnectMs = 2_000;

/** The client limits only the time until it has sent a command. */
async function withinMs<Value>(ms: number, command: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    const fail = () => reject(new Error(`Redis did not respond within ${ms / 1000} s`));
    // A response that arrived while the process was busy is read first.
    timer = setTimeout(() => setImmediate(fail), ms);
  });
  try {
    return await Promise.race([command, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

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

export interface HubRedis {
  readonly budget: RunScript;
  readonly wakes: WakeCommands;
  /** The deliveries that were received. */
  readonly replays: ReplayStore;
  ready(): Promise<void>;
  close(): void;
}

/**
 * Connects to Redis in the background, again and again, and never keeps a command for later: while Redis is away each
 * one fails at once.
 * @throws ConfigError if the package @redis/client is not installed
 * @param onError receives the reason each time that a connection fails
 * @param secureContext the certificates to trust
 */
export async function connectRedis(
  url: string,
  onError: (error: unknown) => void = () => {},
  secureContext?: SecureContext,
): Promise<HubRedis> {
  const { createClient, defineScript } = await loadClient();
  const script = (text: string, keys: number) =>
    defineScript({
      SCRIPT: text,
      NUMBER_OF_KEYS: keys,
      parseCommand(parser, names: string[], args: string[]) {
        for (const name of names) parser.pushKey(name);
        for (const arg of args) parser.push(arg);
      },
      transformReply: (response: unknown) => response,
    });
  // The client would look up the name [::1] if it were given the URL.
  const { protocol, hostname, port, username, password, pathname } = new URL(url);
  const tls = { tls: true as const, ...(secureContext && { secureContext }) };
  const options = {
    ...(username && { username: decodeURIComponent(username) }),
    ...(password && { password: decodeURIComponent(password) }),
    database: Number(pathname.slice(1)),
    disableOfflineQueue: true,
    commandOptions: { timeout: commandMs },
    socket: {
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 6379),
      ...(protocol === 'rediss:' && tls),
      connectTimeout: 2 * commandMs,
      socketTimeout: idleMs,
      reconnectStrategy: (retries: number) => Math.min(100 * 2 ** Math.min(retries, 10), longestReconnectMs),
    },
    scripts: { budget: script(budgetScript(), 6), announce: script(announceScript, 2) },
  };
  const client = createClient(options);
  // A blocking read would hold up every other command on its connection.
  const reader = createClient(options);
  for (const each of [client, reader]) {
    // Without a listener the first lost connection would end the process.
    each.on('error', onError);
    each.connect().catch(() => {});
  }
  const connected = (each: typeof client) =>
    each.isReady ? undefined : new Promise<void>((resolve) => each.once('ready', () => resolve()));
  const replays = redisStore(client);
  return {
    replays: {
      setIfAbsent: (key, ttlMs) => withinMs(commandMs, replays.setIfAbsent(key, ttlMs)),
      delete: (key) => withinMs(commandMs, replays.delete(key)),
    },
    async ready() {
      await Promise.all([connected(client), connected(reader)]);
    },
    budget: async (keys, args) =>
      (await withinMs(commandMs, client.budget(keys, args))) as Awaited<ReturnType<RunScript>>,
    wakes: {
      announce: (keys, args) => withinMs(commandMs, client.announce(keys, args)),
      scores: (key, members) => withinMs(commandMs, client.zmScore(key, [...members])),
      async time() {
        const time = await withinMs(commandMs, client.sendCommand(['TIME']));
        const [seconds, microseconds] = time as unknown as [string, string];
        return Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000);
      },
      async read(key, after) {
        const entry = reader.xRead({ key, id: after }, { BLOCK: blockMs, COUNT: 100 });
        const streams = await withinMs(blockMs + commandMs, entry);
        const entries = (
          streams as { messages: { id: string; message: Record<string, string> }[] }[] | null
        )?.[0];
        return entries?.messages.map(({ id, message }) => ({ id, fields: message })) ?? null;
      },
    },
    close() {
      client.destroy();
      reader.destroy();
    },
  };
}
