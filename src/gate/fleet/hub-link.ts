import type { Clock } from '../../clock.ts';
import { NetworkError, RungateError } from '../../errors.ts';
import { onAbort, untilAborted } from '../../transport/stop.ts';
import { Alone } from './alone.ts';
import type { GrantRequest, HubClient, HubEvent, RequestClass } from './protocol.ts';

export interface HubLinkTools {
  clock: Clock;
  /** A stream that is not ready in this time, or has shown no life for this long, is lost; default 9 s. */
  silenceMs?: number | undefined;
  /** Returns a number from 0 up to 1; default `Math.random`. */
  random?: () => number;
}

/** A gate that uses the hub. */
export interface HubUser {
  /** Its name in the hub's log. */
  name: string | null;
  /** Called once when the hub is lost or was never there, with the reason, and once when it is back, with null. */
  onChange(error: RungateError | null): void;
}

const usualSilenceMs = 9_000;
const backoffMs = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000] as const;
/** After a stream that has lived this long, the backoff starts again. */
const stableMs = 60_000;
/** If a stream that was ready for this long breaks, it is opened again at once: there may be another hub behind the URL. */
const steadyMs = 3_000;
/** Ends a stream for one with other runs. */
const renewed = new Error('the runs have changed');

const isBroken = (error: unknown) => error instanceof NetworkError && error.fault === 'broken';

/** Does work with a signal that follows others, and is aborted when the work has ended. */
async function following<Value>(
  signals: readonly AbortSignal[],
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const either = new AbortController();
  const release = onAbort(signals, (reason) => either.abort(reason));
  try {
    return await work(either.signal);
  } finally {
    release();
    either.abort();
  }
}

/** A hub that grants nothing to anyone for this long is not waited for: the least budget has one request a minute. */
const patienceMs = 3 * 60_000;

const stuck = () =>
  new NetworkError('broken', 'the hub grants no request', { hint: 'check the log of the hub' });

interface Gate {
  readonly user: HubUser;
  runIds: readonly string[];
  readonly listeners: Set<(runId: string) => void>;
}

/** A gate's link with a hub. While the hub is out of reach, the gate waits for no grant and polls by itself, with jitter. */
export type HubLink = ReturnType<HubLinks['open']>;

/** The links of the gates of one process, which share one stream from the first gate on. */
export class HubLinks {
  readonly #client: HubClient;
  readonly #tools: HubLinkTools;
  readonly #now: () => number;
  readonly #alone = new Alone();
  readonly #gates = new Set<Gate>();
  readonly #closing = new AbortController();
  #hub: 'unknown' | 'here' | 'lost' = 'unknown';
  /** Aborted and renewed when the hub is lost, and when it is here. */
  #changed = new AbortController();
  /** Ends the stream in use. Null before the first one. */
  #stream: AbortController | null = null;
  /** When the stream in use became ready. */
  #readyAt: number | null = null;
  /** The last event, and that of each run: after a lost connection, the hub repeats it. */
  #lastId: string | null = null;
  readonly #lastIds = new Map<string, string>();
  /** The error of which the gates know. */
  #reported: RungateError | null = null;
  /** The hub has granted nothing since it failed to, although its stream may work. */
  #failsToGrant = false;
  /** Aborts the waiting read of a run, whose wake-up makes it more urgent. */
  readonly #woken = new Map<string, AbortController>();

  constructor(client: HubClient, tools: HubLinkTools) {
    this.#client = client;
    this.#tools = tools;
    this.#now = tools.clock.monotonic;
  }

  open(user: HubUser) {
    const gate: Gate = { user, runIds: [], listeners: new Set() };
    this.#gates.add(gate);
    if (this.#reported !== null) user.onChange(this.#reported);
    return {
      /** Subscribes to the runs instead of earlier ones. Resolves when a hub has responded, or is known to be out of reach. */
      watch: async (runIds: readonly string[]): Promise<void> => {
        gate.runIds = runIds;
        this.#lastId = null;
        this.#stream?.abort(renewed);
        this.#start();
        if (this.#hub === 'unknown') await untilAborted(this.#changed.signal);
      },
      /**
       * Resolves when the request may be sent. A wake-up of the run makes a waiting read more urgent. Rejects with the signal's
       * reason.
       * @param onAlone called with the time that is left when the hub is lost, and the request waits for its turn without it
       */
      granted: (
        kind: RequestClass,
        runId: string | null,
        signal: AbortSignal,
        onAlone?: (waitMs: number) => void,
      ): Promise<void> =>
        this.#granted({ class: kind, waitedMs: 0, gate: user.name, runId }, signal, onAlone),
      /** Calls back for every wake-up of a watched run. Returns a function that ends that. */
      onWake(listener: (runId: string) => void): () => void {
        gate.listeners.add(listener);
        return () => void gate.listeners.delete(listener);
      },
      /** Reports a 429. */
      limited: (retryAfterMs: number): void => {
        if (this.#hub === 'here') this.#client.limited(retryAfterMs, this.#closing.signal).catch(() => {});
      },
      close: (): void => void this.#gates.delete(gate),
    };
  }

  close(): void {
    this.#closing.abort();
    this.#setHub('lost');
  }

  #start(): void {
    if (this.#stream === null) void this.#keep(this.#closing.signal);
  }

  /** Opens one stream after another. */
  async #keep(closing: AbortSignal): Promise<void> {
    for (let failures = 0; !closing.aborted; ) {
      const stream = new AbortController();
      this.#stream = stream;
      this.#readyAt = null;
      let waitMs: number = backoffMs[0];
      try {
        // If it resolves, the hub asked the gate to connect again, perhaps to another one.
        await following([stream.signal, closing], (signal) => this.#follow(signal));
      } catch (error) {
        // The stream that a lost hub gets when it is back has the other runs, too.
        if (closing.aborted || stream.signal.reason === renewed) continue;
        const livedMs = this.#readyAt === null ? 0 : this.#now() - this.#readyAt;
        if (livedMs >= stableMs) failures = 0;
        if (livedMs >= steadyMs && isBroken(error)) continue;
        this.#lose(error);
        waitMs = backoffMs[Math.min(failures, backoffMs.length - 1)] ?? 0;
        failures += 1;
      }
      await this.#tools.clock.sleep(waitMs, closing).catch(() => {});
    }
  }

  /** Follows one stream until it ends or is silent for too long. */
  async #follow(signal: AbortSignal): Promise<void> {
    const { clock, silenceMs = usualSilenceMs } = this.#tools;
    let heardAt = this.#now();
    const onEvent = (event: HubEvent) => {
      if (signal.aborted) return;
      this.#handle(event);
      if (this.#readyAt !== null) heardAt = this.#now();
    };
    const silence = async () => {
      for (let leftMs = silenceMs; leftMs > 0; leftMs = heardAt + silenceMs - this.#now())
        await clock.sleep(leftMs, signal);
      throw new NetworkError('deadline', 'the hub does not respond');
    };
    const runIds = [...this.#gates].flatMap((gate) => gate.runIds);
    await Promise.race([silence(), this.#client.follow(runIds, this.#lastId, onEvent, signal)]);
    if (this.#readyAt === null)
      throw new NetworkError('broken', 'the hub ended the stream before it was ready');
  }

  #handle(event: HubEvent): void {
    if (event.type === 'ready') {
      this.#readyAt ??= this.#now();
      this.#reportSent().catch(() => {});
      this.#setHub('here');
      if (!this.#failsToGrant) this.#report(null);
    }
    if (event.type !== 'wake') return;
    const { id, runId } = event;
    const watching = [...this.#gates].filter(({ runIds }) => runIds.includes(runId));
    if (watching.length === 0 || this.#lastIds.get(runId) === id) return;
    this.#lastIds.set(runId, id);
    this.#lastId = id;
    this.#woken.get(runId)?.abort();
    for (const { listeners } of watching) for (const listener of listeners) listener(runId);
  }

  /** No error of the hub or its client ends a gate. */
  #lose(error: unknown): void {
    const isKnown = error instanceof RungateError;
    const reason = isKnown ? error : new NetworkError('broken', 'the hub failed', { cause: error });
    if (this.#hub === 'here') this.#alone.begin(this.#now());
    this.#setHub('lost');
    this.#stream?.abort(reason);
    this.#report(reason);
  }

  #setHub(state: 'here' | 'lost'): void {
    if (this.#hub === state) return;
    this.#hub = state;
    const changed = this.#changed;
    this.#changed = new AbortController();
    changed.abort();
  }

  #report(error: RungateError | null): void {
    if ((error === null) === (this.#reported === null)) return;
    this.#reported = error;
    for (const { user } of this.#gates) user.onChange(error);
  }

  /** Reports the requests that were sent without the hub. */
  async #reportSent(): Promise<void> {
    const now = this.#now();
    const requests = this.#alone.ages(now);
    if (requests === null) return;
    await this.#client.sent(requests, this.#closing.signal);
    this.#alone.forget(now);
  }

  async #granted(
    request: GrantRequest,
    signal: AbortSignal,
    onAlone: (waitMs: number) => void = () => {},
  ): Promise<void> {
    const began = this.#now();
    const asking = { ...request, mayBreak: true };
    /** The time for the case that there is no hub: it stays the same if the hub comes and goes. */
    let aloneAt: number | null = null;
    this.#start();
    for (;;) {
      if (this.#hub === 'unknown') await following([this.#changed.signal, signal], untilAborted);
      signal.throwIfAborted();
      if (this.#hub === 'here') {
        asking.waitedMs = this.#now() - began;
        if (await this.#asked(asking, signal)) return;
        continue;
      }
      const now = this.#now();
      const { random = Math.random } = this.#tools;
      aloneAt ??= this.#alone.dueAt(asking.class, now, random());
      if (aloneAt > now) onAlone(aloneAt - now);
      if (await this.#waitedAlone(aloneAt - now, signal)) return this.#alone.add(asking.class, this.#now());
    }
  }

  /** Asks once for a grant. Returns whether the hub has granted the request. @param asking changes in place */
  async #asked(asking: GrantRequest & { mayBreak: boolean }, signal: AbortSignal): Promise<boolean> {
    const { mayBreak, ...request } = asking;
    const { runId, waitedMs } = request;
    const lost = this.#changed.signal;
    const woken = new AbortController();
    const askedAt = this.#now();
    if (runId !== null && request.class !== 'confirm') this.#woken.set(runId, woken);
    try {
      const ask = (stop: AbortSignal) => this.#client.grant(request, stop);
      const grant = await following([lost, woken.signal, signal], ask);
      if (grant.granted) {
        this.#failsToGrant = false;
        this.#report(null);
        return true;
      }
      const heldMs = this.#now() - askedAt;
      const idleMs = Math.min(grant.idleMs, waitedMs + heldMs);
      // Once a hub has failed to grant anything, it gets the time of one request, in which it may grant those of others.
      if (idleMs >= (this.#failsToGrant ? heldMs / 2 : patienceMs)) this.#fail(stuck());
      return false;
    } catch (error) {
      if (signal.aborted) throw error;
      if (lost.aborted) return false;
      if (woken.signal.aborted) asking.class = 'confirm';
      else if (mayBreak && isBroken(error)) asking.mayBreak = false;
      else this.#fail(error);
      return false;
    } finally {
      if (runId !== null) this.#woken.delete(runId);
    }
  }

  /** The stream works, perhaps, but there are no grants. */
  #fail(error: unknown): void {
    this.#failsToGrant = true;
    this.#lose(error);
  }

  /** Returns false if the hub is back before the time is over. One that grants nothing is not asked again. */
  async #waitedAlone(ms: number, signal: AbortSignal): Promise<boolean> {
    const ends = this.#failsToGrant ? [signal] : [this.#changed.signal, signal];
    try {
      if (ms > 0) await following(ends, (either) => this.#tools.clock.sleep(ms, either));
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      return false;
    }
  }
}
