import type { EndpointName } from '../../contract/index.ts';
import { UsageError } from '../../errors.ts';
import type { EventType } from '../data/webhooks.ts';
import { versionTarget } from '../version-page.ts';
import { eventsOf, type FaultKind, isDeliveryKind, rowOf } from './kinds.ts';
import type { FaultParameters } from './play.ts';
import type { DeliveryWire, Wire } from './wire.ts';

/** The kinds of faults with their parameters. */
export type FaultKinds = {
  [K in FaultKind]: K extends keyof FaultParameters ? FaultParameters[K] : Record<never, never>;
};

/** Which of the matching requests or deliveries a fault affects. */
export interface FaultWhen {
  /**
   * For faults of requests: affects only this endpoint, or `deployed`, the version page; by default any request except those to
   * the version page.
   */
  endpoint?: EndpointName | typeof versionTarget | undefined;
  /** For faults of requests: affects only those whose `User-Agent` begins with this. */
  userAgent?: string | undefined;
  /** For faults of deliveries: affects only this event; by default every event that the kind affects. */
  event?: EventType | undefined;
  /** The number of requests or deliveries that it affects; default 1, Infinity for all. */
  times?: number | undefined;
  /** The number of matching requests or deliveries that pass first, counted from when the fault was added. */
  skip?: number | undefined;
  /** The probability, from 0 to 1, that it affects a matching request or delivery; drawn by the mock's seed. */
  chance?: number | undefined;
  /** The time window in which it applies: milliseconds of the mock's clock since the fault was added. */
  fromMs?: number | undefined;
  untilMs?: number | undefined;
}

/** An error between client and service that the mock makes on purpose: its kind, parameters and conditions. */
export type Fault = { [K in FaultKind]: { kind: K } & FaultKinds[K] }[FaultKind] & FaultWhen;

/** A fault that is on: its `skip` and `times` count down. */
interface Pending {
  readonly id: number;
  readonly fault: Fault & { skip: number; times: number };
  readonly addedAt: number;
}

export class Faults {
  #pending: Pending[] = [];
  #added = 0;
  readonly #now: () => number;
  readonly #random: () => number;

  /** @param now the mock's clock in milliseconds, @param random draws for faults with a `chance` */
  constructor(now: () => number = () => 0, random: () => number = () => 0) {
    this.#now = now;
    this.#random = random;
  }

  /** @throws UsageError for a fault of deliveries with an endpoint, or a fault of requests with an event */
  add(fault: Fault): void {
    const foreign = isDeliveryKind(fault.kind) ? 'endpoint' : 'event';
    if (fault[foreign] !== undefined) throw new UsageError(`the fault ${fault.kind} has no ${foreign}`);
    const { skip = 0, times = rowOf(fault.kind).times ?? 1 } = fault;
    this.#added += 1;
    this.#pending.push({ id: this.#added, fault: { ...fault, skip, times }, addedAt: this.#now() });
  }

  /** Removes a fault; returns false if no pending fault has this id. */
  remove(id: number): boolean {
    const before = this.pending;
    this.#pending = this.#pending.filter((pending) => pending.id !== id);
    return this.pending < before;
  }

  clear(): void {
    this.#pending = [];
  }

  get pending(): number {
    return this.#pending.length;
  }

  get entries(): { id: number; fault: Fault }[] {
    return this.#pending.map(({ id, fault }) => ({ id, fault: { ...fault } }));
  }

  get list(): Fault[] {
    return this.entries.map(({ fault }) => fault);
  }

  /** Counts a request and returns the fault that affects it, if any: the first one added that applies. */
  take(endpoint: FaultWhen['endpoint'] | null, userAgent = ''): Fault | undefined {
    return this.#take(
      (fault) =>
        !isDeliveryKind(fault.kind) &&
        userAgent.startsWith(fault.userAgent ?? '') &&
        (fault.endpoint === endpoint || (fault.endpoint === undefined && endpoint !== versionTarget)),
    );
  }

  /** Counts a delivery and returns the fault that affects it, as `take` does for a request. */
  takeDelivery(event: string): Fault | undefined {
    return this.#take(
      (fault) =>
        isDeliveryKind(fault.kind) &&
        (fault.event ?? event) === event &&
        eventsOf(fault.kind).includes(event),
    );
  }

  #take(matches: (fault: Fault) => boolean): Fault | undefined {
    const matching = this.#pending.filter(({ fault }) => matches(fault));
    const applying = matching.find((pending) => this.#applies(pending));
    for (const { fault } of matching) fault.skip = Math.max(0, fault.skip - 1);
    if (applying === undefined) return undefined;
    applying.fault.times -= 1;
    if (applying.fault.times <= 0) this.remove(applying.id);
    return applying.fault;
  }

  #applies({ fault, addedAt }: Pending): boolean {
    const { skip, fromMs = 0, untilMs = Number.POSITIVE_INFINITY, chance = 1 } = fault;
    const age = this.#now() - addedAt;
    return skip === 0 && age >= fromMs && age < untilMs && (chance >= 1 || this.#random() < chance);
  }
}

/** @param wire the request or the delivery that the fault affects */
export async function playFault(fault: Fault, wire: Wire | DeliveryWire): Promise<void> {
  await rowOf(fault.kind).play(wire, fault);
}
