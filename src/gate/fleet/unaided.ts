import { type RequestClass, type SentRequests, windowMs } from './protocol.ts';

type Kind = keyof SentRequests;
const kindOf = (of: RequestClass): Kind => (of === 'create' ? 'creates' : 'reads');

/** When a hub is lost, the gates that waited for it spread their requests over these times. */
const spreadMs: Readonly<Record<Kind, number>> = { reads: 10_000, creates: 60_000 };

/** The requests of gates that have lost their hub. */
export class Unaided {
  readonly #now: () => number;
  readonly #random: () => number;
  #times: Record<Kind, number[]> = { reads: [], creates: [] };
  #lostAt = Number.NEGATIVE_INFINITY;

  /** @param now milliseconds on a clock that never jumps; @param random returns a number from 0 up to 1 */
  constructor(now: () => number, random: () => number) {
    this.#now = now;
    this.#random = random;
  }

  /** A hub that worked is gone. */
  lost(): void {
    this.#lostAt = this.#now();
  }

  /** Returns when a request may be sent. */
  dueAt(of: RequestClass): number {
    return Math.max(this.#now(), this.#lostAt + this.#random() * spreadMs[kindOf(of)]);
  }

  /** Remembers a request that is sent now. */
  sent(of: RequestClass): void {
    this.forget(this.#now() - windowMs);
    this.#times[kindOf(of)].push(this.#now());
  }

  /** Returns how long ago such requests were sent, in milliseconds. */
  ages(): SentRequests {
    const now = this.#now();
    this.forget(now - windowMs);
    const age = (time: number) => Math.round(now - time);
    return { reads: this.#times.reads.map(age), creates: this.#times.creates.map(age) };
  }

  /** The hub knows the requests up to a time. */
  forget(until: number): void {
    const { reads, creates } = this.#times;
    this.#times = {
      reads: reads.filter((time) => time > until),
      creates: creates.filter((time) => time > until),
    };
  }
}
