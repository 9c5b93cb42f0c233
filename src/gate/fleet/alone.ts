import { type RequestClass, type SentRequests, windowMs } from './protocol.ts';

type Kind = keyof SentRequests;
const kindOf = (of: RequestClass): Kind => (of === 'create' ? 'creates' : 'reads');

/** When a hub is lost, the gates that waited for it spread their requests over these times. */
const spreadMs: Readonly<Record<Kind, number>> = { reads: 10_000, creates: 60_000 };

/** The requests of gates without a hub. Times in milliseconds on a clock that never jumps. */
export class Alone {
  #sent: { kind: Kind; at: number }[] = [];
  #lostAt = Number.NEGATIVE_INFINITY;

  /** A hub that worked is gone. */
  begin(now: number): void {
    this.#lostAt = now;
  }

  /** Returns when a request may be sent. @param draw a random number from 0 up to 1 */
  dueAt(of: RequestClass, now: number, draw: number): number {
    return Math.max(now, this.#lostAt + draw * spreadMs[kindOf(of)]);
  }

  /** Remembers a request that is sent now. */
  add(of: RequestClass, now: number): void {
    this.forget(now - windowMs);
    this.#sent.push({ kind: kindOf(of), at: now });
  }

  /** Returns how long ago the requests of the last minute were sent; null if there were none. */
  ages(now: number): SentRequests | null {
    this.forget(now - windowMs);
    const agesOf = (kind: Kind) =>
      this.#sent.filter((request) => request.kind === kind).map(({ at }) => Math.round(now - at));
    return this.#sent.length === 0 ? null : { reads: agesOf('reads'), creates: agesOf('creates') };
  }

  /** The hub knows the requests up to a time. */
  forget(until: number): void {
    this.#sent = this.#sent.filter(({ at }) => at > until);
  }
}
