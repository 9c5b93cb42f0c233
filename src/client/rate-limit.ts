import type { Clock } from '../clock.ts';
import type { Transport } from '../transport/transport.ts';

/** Requests a minute that the service allows a tenant, as typical limits. */
export const ceilings = { all: 100, reads: 60, creates: 20 } as const;

const minuteMs = 60_000;

/**
 * Returns the time at which the next read may be sent, so that no minute has more reads than the ceiling.
 * @param past the times of earlier reads, in order, in milliseconds
 * @param due the time at which the next read is needed, in milliseconds
 */
export function nextReadAt(past: readonly number[], due: number, ceiling: number = ceilings.reads): number {
  const oldest = past[past.length - ceiling];
  return oldest === undefined ? due : Math.max(due, oldest + minuteMs);
}

type Limit = keyof typeof ceilings;

function limitsOf(method: string): readonly Limit[] {
  if (method === 'GET' || method === 'HEAD') return ['all', 'reads'];
  return method === 'POST' ? ['all', 'creates'] : ['all'];
}

/** The requests of one client, which it keeps within the documented limits. Times on the monotonic clock. */
export class Pace {
  readonly #sent: Readonly<Record<Limit, number[]>> = { all: [], reads: [], creates: [] };

  /** Returns the time at which a request with this method may be sent: now, if the limits allow it. */
  nextAt(method: string, now: number): number {
    return Math.max(...limitsOf(method).map((limit) => nextReadAt(this.#sent[limit], now, ceilings[limit])));
  }

  sent(method: string, at: number): void {
    for (const limit of limitsOf(method)) {
      const times = this.#sent[limit];
      times.push(at);
      if (times.length > ceilings[limit]) times.shift();
    }
  }
}

export function counted(transport: Transport, pace: Pace, clock: Clock): Transport {
  return {
    send(request, options) {
      pace.sent(request.method, clock.monotonic());
      return transport.send(request, options);
    },
    close: () => transport.close(),
  };
}
