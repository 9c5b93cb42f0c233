import type { IncomingMessage } from 'node:http';
import { WebhookVerificationError } from '../webhook/error.ts';

/** Deliveries in a row that are off by the same time before a clock is called wrong. */
const enough = 3;
/** The times that deliveries take to arrive differ by less than this, in seconds. */
const spreadSeconds = 30;
/** Without another such delivery, the offset is forgotten after this time: a hub that is not ready may get none. */
const lifetimeMs = 5 * 60_000;

/** Compares this hub's clock with the timestamps of authentic deliveries. */
export interface ClockCheck {
  accepted(): void;
  /**
   * Counts an authentic delivery that was refused for its age.
   * @param ageSeconds negative if its timestamp is ahead
   * @param id the same for the same delivery
   */
  refused(ageSeconds: number, id: string): void;
  /** Returns how far this hub's clock is ahead of the service's, in seconds, or null if they seem to agree. */
  offsetSeconds(): number | null;
}

/**
 * @param now milliseconds on a clock that never jumps
 * @param onChange receives the offset when it is noticed, and 0 when a delivery shows that it is gone
 */
export function createClockCheck(now: () => number, onChange: (offsetSeconds: number) => void): ClockCheck {
  let refused = new Map<string, number>();
  let offset: number | null = null;
  let lastAt = 0;

  const forgetOld = () => {
    if (now() - lastAt < lifetimeMs) return;
    refused = new Map();
    offset = null;
  };

  return {
    accepted() {
      refused = new Map();
      if (offset !== null) onChange(0);
      offset = null;
    },
    refused(ageSeconds, id) {
      forgetOld();
      const isAlike = [...refused.values()].every((other) => Math.abs(other - ageSeconds) <= spreadSeconds);
      // A sender that repeats an old delivery says nothing new.
      if (isAlike && refused.has(id)) return;
      if (!isAlike) refused = new Map();
      refused.set(id, ageSeconds);
      lastAt = now();
      if (refused.size < enough) return;
      const [oldest] = refused.keys();
      if (refused.size > enough && oldest !== undefined) refused.delete(oldest);
      // The quickest of the deliveries shows the clock best.
      const found = Math.round(Math.min(...refused.values()));
      if (offset === null) onChange(found);
      offset = found;
    },
    offsetSeconds() {
      forgetOld();
      return offset;
    },
  };
}

/**
 * Returns a function that receives deliveries and reports their ages. The age is judged after the signature, so a sender
 * without the secret cannot make a clock look wrong.
 * @param signatureHeader the name of the header with the signature
 */
export function checkingClock<Received>(
  receive: (request: IncomingMessage) => Promise<Received>,
  check: ClockCheck,
  signatureHeader: string,
): (request: IncomingMessage) => Promise<Received> {
  return async (request) => {
    try {
      const received = await receive(request);
      check.accepted();
      return received;
    } catch (error) {
      if (WebhookVerificationError.is(error)) {
        const { code, ageSeconds } = error;
        const signature = String(request.headers[signatureHeader.toLowerCase()]).toLowerCase();
        if ((code === 'too_old' || code === 'too_new') && ageSeconds !== undefined)
          check.refused(ageSeconds, signature);
      }
      throw error;
    }
  };
}
