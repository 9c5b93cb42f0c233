import { type HubEvent, type RequestClass, type SentRequests, windowMs } from './protocol.ts';

type Kind = keyof SentRequests;
const kindOf = (of: RequestClass): Kind => (of === 'create' ? 'creates' : 'reads');

/** The requests of gates that have lost their hub: when they may be sent, and when they were. */
export interface Places {
  /** Takes the times that the hub gives for the case that it goes. */
  set(event: HubEvent & { type: 'place' }): void;
  /** Returns the time of the next request of this process: now, if the hub has given none. */
  take(of: RequestClass): number;
  /** Remembers a request that is sent now without a grant. */
  sent(of: RequestClass): void;
  /** Returns how long ago such requests were sent, in milliseconds. */
  ages(): SentRequests;
  /** The hub knows the requests up to a time. */
  forget(until: number): void;
}

/** @param now milliseconds on a clock that never jumps */
export function createPlaces(now: () => number): Places {
  const next: Record<Kind, { at: number; everyMs: number }> = {
    reads: { at: 0, everyMs: 0 },
    creates: { at: 0, everyMs: 0 },
  };
  const times: Record<Kind, number[]> = { reads: [], creates: [] };
  const keep = (after: number) => {
    for (const kind of ['reads', 'creates'] as const)
      times[kind] = times[kind].filter((time) => time > after);
  };
  return {
    set({ reads, creates }) {
      next.reads = { at: now() + reads.afterMs, everyMs: reads.everyMs };
      next.creates = { at: now() + creates.afterMs, everyMs: creates.everyMs };
    },
    take(of) {
      const place = next[kindOf(of)];
      const at = Math.max(now(), place.at);
      place.at = at + place.everyMs;
      return at;
    },
    sent(of) {
      keep(now() - windowMs);
      times[kindOf(of)].push(now());
    },
    ages() {
      keep(now() - windowMs);
      const age = (time: number) => Math.round(now() - time);
      return { reads: times.reads.map(age), creates: times.creates.map(age) };
    },
    forget: keep,
  };
}
