import { setMaxListeners } from 'node:events';
import type { Clock } from '../../clock.ts';
import { NetworkError, RungateError } from '../../errors.ts';
import { eitherSignal } from '../../transport/stop.ts';

/** The version of the protocol between gates and hubs. For a gate, a hub of another version is the same as no hub. */
export const hubVersion = 1;

/** The kinds of requests that a hub grants: the create, the first read of a run, the read after a wake-up, any other read. */
export const requestClasses = ['create', 'first', 'confirm', 'safety'] as const;
export type RequestClass = (typeof requestClasses)[number];

/** An event of a hub's stream. Every event, and every heartbeat, shows that the hub is alive. */
export type HubEvent =
  | { type: 'ready' }
  | { type: 'heartbeat' }
  /** A delivery named the run. `id` resumes the stream after this event. */
  | { type: 'wake'; runId: string; id: string };

/** The response to a request for a grant. `others`: how many such requests the hub has granted so far, if it says so. */
export type Grant = { granted: true } | { granted: false; others: number | null };

/** The requests to a hub. Each throws a RungateError when the hub fails, and the signal's reason when that is aborted. */
export interface HubClient {
  /** Opens the stream of a set of runs, from the beginning or after an event. It ends when the hub ends it. */
  events(runIds: readonly string[], lastId: string | null, signal: AbortSignal): AsyncIterable<HubEvent>;
  /** Asks for a grant. If the hub had none within the time that one request may take, ask again. */
  grant(kind: RequestClass, waitedMs: number, signal: AbortSignal): Promise<Grant>;
  /** Reports that the service has refused a request because of its limit. */
  limited(retryAfterMs: number, signal: AbortSignal): Promise<void>;
}

export interface HubLinkTools {
  clock: Clock;
  /** A stream that is not ready in this time, or has shown no life for this long, is lost; default 9 s. */
  silenceMs?: number;
  /** Called once when the hub is lost or was never there, with the reason, and once when it is back, with null. */
  onChange(error: RungateError | null): void;
}

/** A gate's connection with a hub. While the hub is out of reach, the gate waits for no grant and polls by itself. */
export interface HubLink {
  /** Resolves when the hub has accepted the subscription to the runs, is out of reach, or the signal is aborted. */
  watch(runIds: readonly string[], signal: AbortSignal): Promise<void>;
  /** Resolves when the request may be sent. A wake-up of the run makes a waiting read more urgent. */
  granted(kind: RequestClass, runId: string | null, signal: AbortSignal): Promise<void>;
  /** Calls back for every wake-up of a watched run. Returns a function that ends that. */
  onWake(listener: (runId: string) => void): () => void;
  /** Reports a 429. */
  limited(retryAfterMs: number): void;
  close(): void;
}

const usualSilenceMs = 9_000;
/** Ends a stream for one with other runs. */
const renewed = new Error('the runs have changed');
const backoffMs = [1_000, 2_000, 5_000, 10_000, 20_000, 30_000] as const;
/** A hub that grants nothing to anyone for this long is not waited for: the least budget has one request a minute. */
const patienceMs = 3 * 60_000;
/** After a stream that has lived this long, the backoff starts again. */
const stableMs = 60_000;

const stuck = () =>
  new NetworkError('broken', 'the hub grants no request', { hint: 'check the log of the hub' });

/** If a stream that was ready for this long breaks, it is opened again at once: there may be another hub behind the URL. */
const steadyMs = 3_000;

const isBroken = (error: unknown) => error instanceof NetworkError && error.fault === 'broken';

/** Returns the reason why the hub is lost. No error of the hub or its client ends the gate. */
const hubError = (error: unknown) =>
  error instanceof RungateError ? error : new NetworkError('broken', 'the hub failed', { cause: error });

/** The next event of a stream, or an error after too long a silence. */
async function nextEvent(
  stream: AsyncIterator<HubEvent>,
  waitMs: number,
  clock: Clock,
  signal: AbortSignal,
): Promise<IteratorResult<HubEvent>> {
  const done = new AbortController();
  const either = eitherSignal(done.signal, signal);
  const silence = clock.sleep(waitMs, either.signal).then(() => {
    throw new NetworkError('deadline', 'the hub does not respond');
  });
  silence.catch(() => {});
  try {
    return await Promise.race([stream.next(), silence]);
  } finally {
    done.abort();
    either.release();
  }
}

/** Returns a controller for a signal that many waiting runs may listen to, without a warning of Node's. */
function absence(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Keeps one stream to the hub open for as long as the gate runs. */
export function createHubLink(
  client: HubClient,
  { clock, onChange, silenceMs = usualSilenceMs }: HubLinkTools,
): HubLink {
  const closed = new AbortController();
  const listeners = new Set<(runId: string) => void>();
  /** Aborts the waiting read of a run, whose wake-up makes it more urgent. */
  const upgrades = new Map<string, AbortController>();
  let runIds: readonly string[] = [];
  let lastId: string | null = null;
  /** When the stream in use became ready. */
  let readyAt: number | null = null;
  /** Ends the stream in use: by loss, or for one with other runs. */
  let stream = new AbortController();
  /** Aborted when the hub is lost; renewed when it is back. */
  let gone = absence();
  /** Whether `onChange` was last called with an error. */
  let reported = false;
  /** How many requests of a class the hub had granted when it last said so. */
  const others = new Map<RequestClass, number | null>();
  /** Whether the hub fails although its stream works. */
  let noGrants = false;
  gone.abort();
  /** The last event of each run: after a lost connection, the hub repeats it. */
  const lastIds = new Map<string, string>();
  /** Resolves when the stream in use is ready or lost. */
  let settle = () => {};
  let settled = Promise.resolve();

  const expectStream = () => {
    settled = new Promise((resolve) => {
      settle = resolve;
    });
  };

  const lose = (error: RungateError) => {
    stream.abort(error);
    settle();
    gone.abort(error);
    report(error);
  };

  const report = (error: RungateError) => {
    if (reported) return;
    reported = true;
    onChange(error);
  };

  const recover = () => {
    noGrants = false;
    if (reported) onChange(null);
    reported = false;
  };

  const handle = (event: HubEvent) => {
    if (event.type === 'ready') {
      readyAt ??= clock.monotonic();
      if (gone.signal.aborted) gone = absence();
      if (!noGrants) recover();
      settle();
    }
    if (event.type !== 'wake' || !runIds.includes(event.runId)) return;
    if (lastIds.get(event.runId) === event.id) return;
    lastIds.set(event.runId, event.id);
    lastId = event.id;
    upgrades.get(event.runId)?.abort();
    for (const listener of listeners) listener(event.runId);
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    const readyBy = clock.monotonic() + silenceMs;
    const events = client.events(runIds, lastId, signal)[Symbol.asyncIterator]();
    try {
      for (let ready = false; ; ) {
        const waitMs = ready ? silenceMs : Math.max(0, readyBy - clock.monotonic());
        const { done, value } = await nextEvent(events, waitMs, clock, signal);
        if (done !== true) handle(value);
        else if (ready) return;
        else throw new NetworkError('broken', 'the hub ended the stream before it was ready');
        ready ||= value.type === 'ready';
      }
    } finally {
      events.return?.()?.catch(() => {});
    }
  };

  const keep = async (): Promise<void> => {
    for (let failures = 0; !closed.signal.aborted; ) {
      readyAt = null;
      stream = new AbortController();
      const { signal } = stream;
      const either = eitherSignal(signal, closed.signal);
      const reopened = () => signal.aborted && signal.reason === renewed;
      try {
        await follow(either.signal);
        // The hub asked the gate to connect again, perhaps to another one.
        await clock.sleep(backoffMs[0], closed.signal);
      } catch (error) {
        if (closed.signal.aborted) return;
        if (reopened()) continue;
        const livedMs = clock.monotonic() - (readyAt ?? clock.monotonic());
        if (livedMs >= stableMs) failures = 0;
        if (livedMs >= steadyMs && isBroken(error)) continue;
        lose(hubError(error));
        const waitMs = backoffMs[Math.min(failures, backoffMs.length - 1)] ?? 0;
        failures += 1;
        await clock.sleep(waitMs, closed.signal).catch(() => {});
      } finally {
        either.release();
      }
    }
  };
  let keeping = false;

  return {
    async watch(ids, signal) {
      runIds = ids;
      lastId = null;
      if (keeping && gone.signal.aborted) return;
      expectStream();
      if (keeping) stream.abort(renewed);
      else void keep();
      keeping = true;
      let stop = () => {};
      const stopped = new Promise<void>((resolve) => {
        stop = resolve;
      });
      if (signal.aborted) stop();
      signal.addEventListener('abort', stop, { once: true });
      await Promise.race([settled, stopped]);
      signal.removeEventListener('abort', stop);
    },

    async granted(kind, runId, signal) {
      const began = clock.monotonic();
      let progressAt = began;
      let retried = false;
      for (let urgency = kind; !gone.signal.aborted; ) {
        const upgrade = new AbortController();
        const outer = eitherSignal(gone.signal, signal);
        const either = eitherSignal(outer.signal, upgrade.signal);
        if (runId !== null && urgency !== 'confirm') upgrades.set(runId, upgrade);
        try {
          const grant = await client.grant(urgency, clock.monotonic() - began, either.signal);
          if (grant.granted) return recover();
          const now = clock.monotonic();
          const goesOn = grant.others !== others.get(urgency);
          others.set(urgency, grant.others);
          if (goesOn) progressAt = now;
          // Once a hub is stuck, it gets the time of one request.
          if (goesOn || (!noGrants && now - progressAt < patienceMs)) continue;
          noGrants = true;
          return report(stuck());
        } catch (error) {
          if (signal.aborted) throw error;
          if (gone.signal.aborted) return;
          if (upgrade.signal.aborted) urgency = 'confirm';
          else if (!retried && isBroken(error)) retried = true;
          else {
            noGrants = true;
            lose(hubError(error));
          }
        } finally {
          if (runId !== null) upgrades.delete(runId);
          either.release();
          outer.release();
        }
      }
    },

    onWake(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },

    limited(retryAfterMs) {
      if (gone.signal.aborted) return;
      client.limited(retryAfterMs, closed.signal).catch(() => {});
    },

    close() {
      closed.abort();
      settle();
    },
  };
}
