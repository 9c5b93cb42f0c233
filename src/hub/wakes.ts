import type { Clock } from '../clock.ts';
import type { HubRedis } from './redis.ts';

/** The time at which a delivery named an id, in milliseconds since the epoch on the clock of its store. */
export interface Wake {
  id: string;
  at: number;
}

const rememberedMs = 24 * 60 * 60_000;
/** Ids that are remembered at most: the oldest are forgotten first. */
export const mostRemembered = 100_000;
/** The times of wake-ups come from the clocks of Redis and of several hubs, which may differ. */
const clockMarginMs = 60_000;

/** The ids that deliveries have named in the last day, and their subscribers. */
export class Wakes {
  readonly #now: () => number;
  readonly #named = new Map<string, number>();
  readonly #subscribers = new Map<string, Set<(wake: Wake) => void>>();

  /** @param now wall-clock milliseconds since the epoch */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Passes ids to the subscribers of every hub. */
  announce(ids: readonly string[]): void {
    const at = this.#now();
    for (const id of ids) this.pass({ id, at });
  }

  /** Remembers an id, and passes it to the subscribers of this hub. */
  pass({ id, at }: Wake): void {
    // In the order of their last naming.
    this.#named.delete(id);
    this.#named.set(id, at);
    for (const [oldest, time] of this.#named) {
      if (this.#named.size <= mostRemembered && time >= at - rememberedMs) break;
      this.#named.delete(oldest);
    }
    for (const onWake of this.#subscribers.get(id) ?? []) onWake({ id, at });
  }

  /** Returns when a delivery last named an id, or null. */
  lastNamed(id: string): number | null {
    return this.#named.get(id) ?? null;
  }

  /**
   * Calls back for every delivery that names one of the ids: first for those since a time, then as they come.
   * Returns a function that ends that.
   */
  subscribe(ids: readonly string[], since: number, onWake: (wake: Wake) => void): () => void {
    const oldest = Math.max(since - clockMarginMs, this.#now() - rememberedMs);
    for (const id of ids) {
      this.#subscribers.set(id, (this.#subscribers.get(id) ?? new Set()).add(onWake));
      const at = this.#named.get(id);
      if (at !== undefined && at >= oldest) onWake({ id, at });
    }
    return () => {
      for (const id of ids) {
        const others = this.#subscribers.get(id);
        others?.delete(onWake);
        if (others?.size === 0) this.#subscribers.delete(id);
      }
    };
  }
}

/** How often the hub looks for the ids of others. */
const pollMs = 200;
/** After a failure, the next call waits this long. */
const retryMs = 500;
/** A hub that stops waits for Redis at most this long. */
const lastMs = 1_000;
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
export class SharedWakes extends Wakes {
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
          this.pass({ id, at: Number.parseInt(entry, 10) });
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
