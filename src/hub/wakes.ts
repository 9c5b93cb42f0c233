import type { Clock } from '../clock.ts';

/** The time at which a delivery named an id, in milliseconds since the epoch on the clock of the store. */
export interface Wake {
  id: string;
  at: number;
}

/** The ids that deliveries have named. One hub keeps them in memory; several share them in Redis. */
export interface WakeStore {
  /** Remembers ids for a day, and passes them to the listeners of every hub. */
  announce(ids: readonly string[]): Promise<void>;
  /** Returns those of the ids that a delivery named at or after a time. */
  namedSince(ids: readonly string[], since: number): Promise<Wake[]>;
  /** Calls back for every id that any hub announces. Returns a function that ends that. */
  listen(listener: (wake: Wake) => void): () => void;
}

export const rememberedMs = 24 * 60 * 60_000;
/** Ids that are remembered at most: the oldest are forgotten first. */
export const mostRemembered = 100_000;

export interface MemoryWakes extends WakeStore {
  /** Remembers an id that another store has announced. */
  remember(wake: Wake): void;
}

/** @param now wall-clock milliseconds since the epoch */
export function memoryWakes(now: () => number): MemoryWakes {
  const named = new Map<string, number>();
  const listeners = new Set<(wake: Wake) => void>();
  const remember = ({ id, at }: Wake) => {
    // In the order of their last naming.
    named.delete(id);
    named.set(id, at);
    for (const [oldest, time] of named) {
      if (named.size <= mostRemembered && time >= at - rememberedMs) break;
      named.delete(oldest);
    }
  };
  return {
    remember,
    async announce(ids) {
      const at = now();
      for (const id of ids) remember({ id, at });
      for (const id of ids) for (const listener of listeners) listener({ id, at });
    },
    async namedSince(ids, since) {
      const oldest = Math.max(since, now() - rememberedMs);
      return ids.flatMap((id) => {
        const at = named.get(id);
        return at !== undefined && at >= oldest ? [{ id, at }] : [];
      });
    },
    listen(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The commands of Redis that the wake-ups need. Each fails when Redis does. */
export interface WakeCommands {
  /** Runs `announceScript`. */
  announce(keys: string[], args: string[]): Promise<unknown>;
  /** The scores of members, null for those that are missing. */
  scores(key: string, members: readonly string[]): Promise<readonly (number | null)[]>;
  /** Redis's own time, in milliseconds since the epoch. */
  time(): Promise<number>;
  /** Waits for entries of a stream after an id; null after a few seconds without any. */
  read(key: string, after: string): Promise<readonly { id: string; fields: Record<string, string> }[] | null>;
}

const stream = 'wakes';
const named = 'named';
/** Entries of the stream that are kept, about: a hub that lost its connection reads on from its last one. */
const keptEntries = 1_500;

/** Adds ids to the stream and to those remembered, all at one time of Redis's clock. */
export const announceScript = `
local stream, named = KEYS[1], KEYS[2]
local kept, remembered, most = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3])
local t = redis.call('TIME')
local now = t[1] * 1000 + math.floor(t[2] / 1000)
for i = 4, #ARGV do redis.call('ZADD', named, now, ARGV[i]) end
redis.call('ZREMRANGEBYSCORE', named, '-inf', now - remembered)
redis.call('ZREMRANGEBYRANK', named, 0, -most - 1)
redis.call('PEXPIRE', named, remembered)
redis.call('XADD', stream, 'MAXLEN', '~', kept, '*', 'at', string.format('%.0f', now), 'ids', cjson.encode({ unpack(ARGV, 4) }))
redis.call('PEXPIRE', stream, remembered)
return 0
`;

/** After a failed read of the stream, the next one waits this long. */
const retryMs = 500;
/** The first read, and each after a failure, begins this much earlier: a wake-up that comes twice does no harm. */
const overlapMs = 10_000;

export function redisWakes(commands: WakeCommands, clock: Clock): WakeStore {
  /** Reads the stream from now on, also over failures of Redis. */
  const follow = async (onEntry: (fields: Record<string, string>) => void, signal: AbortSignal) => {
    let after = '';
    let isSure = false;
    while (!signal.aborted) {
      try {
        if (!isSure) {
          // Redis may have been replaced by one whose clock is behind: its entries begin before the last one that was read.
          const recent = (await commands.time()) - overlapMs;
          if (after === '' || Number.parseInt(after, 10) > recent) after = `${recent}-0`;
          isSure = true;
        }
        for (const { id, fields } of (await commands.read(stream, after)) ?? []) {
          after = id;
          if (!signal.aborted) onEntry(fields);
        }
      } catch {
        isSure = false;
        await clock.sleep(retryMs, signal).catch(() => {});
      }
    }
  };

  return {
    async announce(ids) {
      if (ids.length === 0) return;
      await commands.announce(
        [stream, named],
        [keptEntries, rememberedMs, mostRemembered, ...ids].map(String),
      );
    },
    async namedSince(ids, since) {
      if (ids.length === 0) return [];
      const oldest = Math.max(since, (await commands.time()) - rememberedMs);
      const scores = await commands.scores(named, ids);
      return ids.flatMap((id, index): Wake[] => {
        const at = scores[index] ?? null;
        return at !== null && at >= oldest ? [{ id, at }] : [];
      });
    },
    listen(listener) {
      const end = new AbortController();
      void follow(({ at, ids = '[]' }) => {
        for (const id of JSON.parse(ids) as string[]) listener({ id, at: Number(at) });
      }, end.signal);
      return () => end.abort();
    },
  };
}
