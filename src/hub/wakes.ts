import type { Clock } from '../clock.ts';
import type { HubRedis } from './redis.ts';

/** The time at which a delivery named an id, in milliseconds since the epoch on the clock of its store. */
export interface Wake {
  id: string;
  at: number;
}

/** The ids that deliveries have named. */
export interface WakeStore {
  /** Remembers ids for a day, and passes them to the listeners of every hub. */
  announce(ids: readonly string[]): void;
  /** Returns those of the ids that a delivery named at or after a time. */
  namedSince(ids: readonly string[], since: number): Wake[];
  /** Calls back for every id that any hub announces. Returns a function that ends that. */
  listen(listener: (wake: Wake) => void): () => void;
}

const rememberedMs = 24 * 60 * 60_000;
/** Ids that are remembered at most: the oldest are forgotten first. */
export const mostRemembered = 100_000;

/** The ids in this process's memory. */
export class MemoryWakes implements WakeStore {
  readonly #now: () => number;
  readonly #named = new Map<string, number>();
  readonly #listeners = new Set<(wake: Wake) => void>();

  /** @param now wall-clock milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  announce(ids: readonly string[]): void {
    const at = this.#now();
    for (const id of ids) this.remember({ id, at });
    for (const id of ids) this.wake({ id, at });
  }

  remember({ id, at }: Wake): void {
    // In the order of their last naming.
    this.#named.delete(id);
    this.#named.set(id, at);
    for (const [oldest, time] of this.#named) {
      if (this.#named.size <= mostRemembered && time >= at - rememberedMs) break;
      this.#named.delete(oldest);
    }
  }

  wake(wake: Wake): void {
    for (const listener of this.#listeners) listener(wake);
  }

  namedSince(ids: readonly string[], since: number): Wake[] {
    const oldest = Math.max(since, this.#now() - rememberedMs);
    return ids.flatMap((id) => {
      const at = this.#named.get(id);
      return at !== undefined && at >= oldest ? [{ id, at }] : [];
    });
  }

  listen(listener: (wake: Wake) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

/** How often the hub looks for the ids of others. */
const pollMs = 200;
/** After a failure, the next call waits this long. */
const retryMs = 500;
/** A hub that stops waits for Redis at most this long. */
const lastMs = 2_000;
/** After a failure, the hub reads the last ids again. */
const overlapMs = 10_000;
/** Ids that wait for Redis at most: the oldest are left out. */
const mostWaiting = 10_000;
/** Ids in one call. */
const mostAtOnce = 500;

/**
 * Passes the ids between hubs. Each hub wakes its gates and remembers the ids by itself, so without Redis only the ids that the others receive are
 * missing. They follow when Redis is back.
 */
export class SharedWakes extends MemoryWakes {
  readonly #redis: Pick<HubRedis, 'announce' | 'announced'>;
  readonly #clock: Clock;
  readonly #hub = crypto.randomUUID();
  readonly #closing = new AbortController();
  /** The ids that the other hubs have not received. */
  #waiting: string[] = [];
  #sending: Promise<void> | null = null;

  constructor(redis: Pick<HubRedis, 'announce' | 'announced'>, clock: Clock) {
    super(clock.now);
    this.#redis = redis;
    this.#clock = clock;
    void this.#follow();
  }

  override announce(ids: readonly string[]): void {
    super.announce(ids);
    this.#waiting = [...this.#waiting, ...ids].slice(-mostWaiting);
    this.#sending ??= this.#send().finally(() => {
      this.#sending = null;
    });
  }

  /** Sends what other hubs have not received: the sender of a delivery that was accepted does not repeat it. */
  async close(): Promise<void> {
    const { signal } = this.#closing;
    await Promise.race([this.#sending, this.#clock.sleep(lastMs, signal).catch(() => {})]);
    this.#closing.abort();
  }

  async #send(): Promise<void> {
    while (this.#waiting.length > 0 && !this.#closing.signal.aborted) {
      const ids = this.#waiting.splice(0, mostAtOnce);
      try {
        await this.#redis.announce(ids, this.#hub, mostRemembered, rememberedMs);
      } catch {
        this.#waiting.unshift(...ids);
        await this.#clock.sleep(retryMs, this.#closing.signal).catch(() => {});
      }
    }
  }

  /** Reads the ids of the other hubs from the beginning, which takes the place of the ids of a hub before its restart. */
  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    for (let after = '0-0'; !signal.aborted; ) {
      let waitMs = pollMs;
      try {
        for (const [entry, hub, id] of await this.#redis.announced(after)) {
          after = entry;
          waitMs = 0;
          if (hub === this.#hub) continue;
          const wake = { id, at: Number.parseInt(entry, 10) };
          this.remember(wake);
          this.wake(wake);
        }
      } catch {
        waitMs = retryMs;
        // Another Redis, whose clock may be behind, may answer next. A wake-up that comes twice does no harm.
        after = `${Math.max(0, Number.parseInt(after, 10) - overlapMs)}-0`;
      }
      if (waitMs > 0) await this.#clock.sleep(waitMs, signal).catch(() => {});
    }
  }
}
