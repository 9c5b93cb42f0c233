// Faults of the hub and of the service, and proxies, for bench/fleet-simulation.ts.

import { setMaxListeners } from 'node:events';
import type { Clock } from '../src/clock.ts';
import { NetworkError } from '../src/errors.ts';
import type { HubClient } from '../src/gate/fleet/protocol.ts';
import { eitherSignal } from '../src/transport/stop.ts';
import type { World } from './fleet-simulation.ts';

/** A fault that begins when half of the runs are created. */
export interface Trouble {
  fault: 'no hub' | 500 | 429;
  forMs: number;
}

/** A proxy between the gates and their hub. */
export interface SlowProxy {
  /** The longest time by which it delays a request, in milliseconds; the shortest is none. */
  delayMs: number;
  /** It breaks every stream after this time. */
  cutMs: number;
}

/** Follows a fault: it begins when half of the gates have a run. */
export function troubleOf(trouble: Trouble | undefined, size: number, { events, now }: World) {
  let created = 0;
  let active = false;
  let began = false;
  let endsAt = 0;
  const newReach = () => {
    const controller = new AbortController();
    setMaxListeners(0, controller.signal);
    return controller;
  };
  let reach = newReach();
  return {
    onCreate(): void {
      created += 1;
      if (trouble === undefined || created !== Math.ceil(size / 2)) return;
      [active, began] = [true, true];
      endsAt = now() + trouble.forMs;
      if (trouble.fault === 'no hub') reach.abort(new NetworkError('broken', 'the hub is gone'));
      if (trouble.forMs === Number.POSITIVE_INFINITY) return;
      events.push(endsAt, () => {
        active = false;
        reach = newReach();
      });
    },
    hasBegun: () => began,
    /** The status code of every response now, or null. */
    status: () => (active && typeof trouble?.fault === 'number' ? trouble.fault : null),
    /** When the service shows the state of runs again. */
    readableAt: () => (typeof trouble?.fault === 'number' ? endsAt : 0),
    /** Aborted while no hub can be reached. */
    reach: () => reach.signal,
  };
}

export type TroubleState = ReturnType<typeof troubleOf>;

interface WayToHub {
  trouble: TroubleState;
  proxy: SlowProxy | undefined;
  clock: Clock;
  random: () => number;
}

/** Puts a fault and a proxy between a gate and its hub. */
export function behind(client: HubClient, { trouble, proxy, clock, random }: WayToHub): HubClient {
  const pass = async <Value>(signal: AbortSignal, send: (signal: AbortSignal) => Promise<Value>) => {
    const either = eitherSignal(trouble.reach(), signal);
    try {
      if (proxy !== undefined) await clock.sleep(random() * proxy.delayMs, either.signal);
      either.signal.throwIfAborted();
      return await send(either.signal);
    } finally {
      either.release();
    }
  };
  return {
    ...client,
    async follow(runIds, lastId, onEvent, signal) {
      const cut = new AbortController();
      const outer = eitherSignal(trouble.reach(), signal);
      const either = eitherSignal(cut.signal, outer.signal);
      try {
        either.signal.throwIfAborted();
        if (proxy !== undefined) {
          await clock.sleep(random() * proxy.delayMs, either.signal);
          const end = () => cut.abort(new NetworkError('broken', 'the proxy has closed the stream'));
          clock.sleep(proxy.cutMs, either.signal).then(end, () => {});
        }
        await client.follow(runIds, lastId, onEvent, either.signal);
      } finally {
        cut.abort();
        either.release();
        outer.release();
      }
    },
    grant: (request, signal) => pass(signal, (either) => client.grant(request, either)),
    limited: (retryAfterMs, signal) => pass(signal, (either) => client.limited(retryAfterMs, either)),
  };
}
