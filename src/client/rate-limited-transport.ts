import type { Clock } from '../clock.ts';
import type { Transport } from '../transport/transport.ts';
import { kindOf, Pace, rateLimitLeft } from './rate-limit.ts';

/** A transport that counts what it sends, and the wait until more may be sent. */
export interface Paced {
  transport: Transport;
  /** Milliseconds until a request with this method may be sent; 0 while there is budget. */
  waitMs(method: string): number;
}

/** @param documented keep to the documented ceilings while the service says nothing of its limits */
export function paced(transport: Transport, clock: Clock, documented: boolean): Paced {
  const pace = new Pace(documented);
  return {
    waitMs: (method) => {
      const now = clock.monotonic();
      return pace.nextAt(kindOf(method), now) - now;
    },
    transport: {
      async send(request, options) {
        const kind = kindOf(request.method);
        pace.sent(kind, clock.monotonic());
        const reply = await transport.send(request, options);
        pace.replied(kind, reply.status, rateLimitLeft(reply.headers, clock.now()), clock.monotonic());
        return reply;
      },
      close: () => transport.close(),
    },
  };
}
