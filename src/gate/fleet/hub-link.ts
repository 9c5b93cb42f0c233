import { setMaxListeners } from 'node:events';
import type { Clock } from '../../clock.ts';
import { NetworkError, RungateError } from '../../errors.ts';
import { eitherSignal } from '../../transport/stop.ts';
import type { HubClient, HubEvent, RequestClass } from './protocol.ts';
import { Unaided } from './unaided.ts';

export interface HubLinkTools {
  clock: Clock;
  /** A stream that is not ready in this time, or has shown no life for this long, is lost; default 9 s. */
  silenceMs?: number;
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

/**
 * A gate's link with a hub. While the hub is out of reach, the gate waits for no grant and polls by itself, with
 * jitter.
 */
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

/** The links of the gates of one process, which share one stream. */
export interface HubLinks {
  open(user: HubUser): HubLink;
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
function manyMayListen(): AbortController {
  const controller = new AbortController();
  setMaxListeners(0, controller.signal);
  return controller;
}

/** Keeps one stream to the hub open while there are gates. */
export function createHubLinks(
  client: HubClient,
  { clock, silenceMs = usualSilenceMs, random = Math.random }: HubLinkTools,
): HubLinks {
  /** Ends the stream in use and its successors when the last gate has left. */
  let session = manyMayListen();
  const unaided = new Unaided(clock.monotonic, random);
  /** The gates, and the runs that each watches. */
  const users = new Map<HubUser, { runIds: readonly string[]; listeners: Set<(runId: string) => void> }>();
  /** Aborts the waiting read of a run, whose wake-up makes it more urgent. */
  const upgrades = new Map<string, AbortController>();
  let lastId: string | null = null;
  /** When the stream in use became ready. */
  let readyAt: number | null = null;
  /** Ends the stream in use: by loss, or for one with other runs. */
  let stream = new AbortController();
  /** Aborted when the hub is lost; renewed when it is back. */
  let gone = manyMayListen();
  /** Aborted when the hub is back; renewed when it is lost. */
  let back = manyMayListen();
  /** The error of which the gates know. */
  let reported: RungateError | null = null;
  /** How many requests of a class the hub had granted when it last said so, and when that changed. */
  const others = new Map<RequestClass, { granted: number | null; changedAt: number }>();
  /** Whether the hub fails although its stream works. */
  let noGrants = false;
  gone.abort();
  /** The last event of each run: after a lost connection, the hub repeats it. */
  const last = new Map<string, string>();
  /** Resolves when the stream in use is ready or lost. */
  let settle: (() => void) | null = null;
  let settled = Promise.resolve();
  const settleAll = () => {
    settle?.();
    settle = null;
  };
  const expectStream = () => {
    if (settle !== null) return;
    settled = new Promise((resolve) => {
      settle = resolve;
    });
  };

  const report = (error: RungateError | null) => {
    if ((error === null) === (reported === null)) return;
    reported = error;
    for (const { onChange } of users.keys()) onChange(error);
  };

  const lose = (error: RungateError) => {
    stream.abort(error);
    settleAll();
    if (!gone.signal.aborted) {
      back = manyMayListen();
      unaided.lost();
    }
    gone.abort(error);
    report(error);
  };

  const recover = () => {
    noGrants = false;
    report(null);
  };

  let isReporting = false;
  const reportSent = async () => {
    const requests = unaided.ages();
    // Another stream may be ready before the hub has responded.
    if (isReporting || requests.reads.length + requests.creates.length === 0) return;
    isReporting = true;
    const now = clock.monotonic();
    try {
      await client.sent(requests, session.signal);
      unaided.forget(now);
    } finally {
      isReporting = false;
    }
  };

  const handle = (event: HubEvent) => {
    if (event.type === 'ready') {
      readyAt ??= clock.monotonic();
      reportSent().catch(() => {});
      if (gone.signal.aborted) gone = manyMayListen();
      back.abort();
      if (!noGrants) recover();
      settleAll();
    }
    if (event.type !== 'wake') return;
    const { id, runId } = event;
    const watching = [...users.values()].filter(({ runIds }) => runIds.includes(runId));
    if (watching.length === 0 || last.get(runId) === id) return;
    last.set(runId, id);
    lastId = id;
    upgrades.get(runId)?.abort();
    for (const { listeners } of watching) for (const listener of listeners) listener(runId);
  };

  const follow = async (signal: AbortSignal): Promise<void> => {
    const readyBy = clock.monotonic() + silenceMs;
    const watched = [...users.values()].flatMap(({ runIds }) => runIds);
    const events = client.events(watched, lastId, signal)[Symbol.asyncIterator]();
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

  const keep = async (ended: AbortSignal): Promise<void> => {
    for (let failures = 0; !ended.aborted; ) {
      readyAt = null;
      stream = new AbortController();
      const { signal } = stream;
      const either = eitherSignal(signal, ended);
      const reopened = () => signal.aborted && signal.reason === renewed;
      try {
        await follow(either.signal);
        // The hub asked the gate to connect again, perhaps to another one.
        await clock.sleep(backoffMs[0], ended);
      } catch (error) {
        if (ended.aborted) return;
        if (reopened()) continue;
        const livedMs = clock.monotonic() - (readyAt ?? clock.monotonic());
        if (livedMs >= stableMs) failures = 0;
        if (livedMs >= steadyMs && isBroken(error)) continue;
        lose(hubError(error));
        const waitMs = backoffMs[Math.min(failures, backoffMs.length - 1)] ?? 0;
        failures += 1;
        await clock.sleep(waitMs, ended).catch(() => {});
      } finally {
        either.release();
      }
    }
  };
  let keeping = false;

  /** Resolves with false if the hub is back before the time at which a gate without it may send the request. */
  const turnWithout = async (kind: RequestClass, at: number, signal: AbortSignal): Promise<boolean> => {
    const isBack = gone.signal.aborted ? back.signal : undefined;
    const either = eitherSignal(isBack, signal);
    try {
      const waitMs = at - clock.monotonic();
      if (waitMs > 0) await clock.sleep(waitMs, either.signal);
      unaided.sent(kind);
      return true;
    } catch (error) {
      if (signal.aborted) throw error;
      return false;
    } finally {
      either.release();
    }
  };

  const close = () => {
    session.abort();
    keeping = false;
    settleAll();
  };

  const open = (user: HubUser): HubLink => {
    const own = { runIds: [] as readonly string[], listeners: new Set<(runId: string) => void>() };
    users.set(user, own);
    if (reported !== null) user.onChange(reported);

    const granted: HubLink['granted'] = async (kind, runId, signal) => {
      const began = clock.monotonic();
      let retried = false;
      /** The time for the case that there is no hub: it stays the same if the hub comes and goes. */
      let withoutAt: number | null = null;
      for (let urgency = kind; ; ) {
        if (gone.signal.aborted) {
          withoutAt ??= unaided.dueAt(urgency);
          if (await turnWithout(urgency, withoutAt, signal)) return;
          continue;
        }
        const lost = gone.signal;
        const upgrade = new AbortController();
        const outer = eitherSignal(lost, signal);
        const either = eitherSignal(outer.signal, upgrade.signal);
        if (runId !== null && urgency !== 'confirm') upgrades.set(runId, upgrade);
        try {
          const waitedMs = clock.monotonic() - began;
          const request = { class: urgency, waitedMs, gate: user.name, runId };
          const grant = await client.grant(request, either.signal);
          if (grant.granted) return recover();
          const now = clock.monotonic();
          const known = others.get(urgency);
          const goesOn = grant.others !== known?.granted;
          const changedAt = goesOn || known === undefined ? now : known.changedAt;
          others.set(urgency, { granted: grant.others, changedAt });
          // Once a hub is stuck, it gets the time of one request.
          if (goesOn || (!noGrants && now - Math.max(began, changedAt) < patienceMs)) continue;
          noGrants = true;
          report(stuck());
        } catch (error) {
          if (signal.aborted) throw error;
          if (lost.aborted) continue;
          if (upgrade.signal.aborted) urgency = 'confirm';
          else if (!retried && isBroken(error)) retried = true;
          else {
            noGrants = true;
            lose(hubError(error));
          }
          continue;
        } finally {
          if (runId !== null) upgrades.delete(runId);
          either.release();
          outer.release();
        }
        withoutAt ??= unaided.dueAt(urgency);
        if (await turnWithout(urgency, withoutAt, signal)) return;
      }
    };

    return {
      async watch(ids, signal) {
        own.runIds = ids;
        lastId = null;
        if (keeping) stream.abort(renewed);
        // The stream that a lost hub gets when it is back has these runs, too.
        if (keeping && gone.signal.aborted && settle === null) return;
        expectStream();
        if (!keeping) {
          session = manyMayListen();
          void keep(session.signal);
        }
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

      granted,

      onWake(listener) {
        own.listeners.add(listener);
        return () => own.listeners.delete(listener);
      },

      limited(retryAfterMs) {
        if (gone.signal.aborted) return;
        client.limited(retryAfterMs, session.signal).catch(() => {});
      },

      close() {
        users.delete(user);
        if (users.size === 0) close();
      },
    };
  };

  return { open, close };
}
