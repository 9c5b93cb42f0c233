import type { EndpointName } from '../../contract/index.ts';
import { UsageError } from '../../errors.ts';
import { type EventType, eventTypes } from '../data/webhooks.ts';
import { versionTarget } from '../version-page.ts';
import {
  type DeliveryFaultKind,
  type DeliveryWire,
  deliveryKinds,
  isDeliveryKind,
} from './delivery-kinds.ts';
import type { FaultRow } from './play.ts';
import { type FaultParameters, type RequestFaultKind, requestKinds } from './request-kinds.ts';
import type { Wire } from './wire.ts';

/** The name of a kind of fault. */
export type FaultKind = RequestFaultKind | DeliveryFaultKind;

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

export type FaultTarget = NonNullable<FaultWhen['endpoint']>;

/** An error between client and service that the mock makes on purpose: its kind, parameters and conditions. */
export type Fault = { [K in FaultKind]: { kind: K } & FaultKinds[K] }[FaultKind] & FaultWhen;
type RequestFault = Extract<Fault, { kind: RequestFaultKind }>;
export type DeliveryFault = Extract<Fault, { kind: DeliveryFaultKind }>;

export function isDeliveryFault(fault: Fault): fault is DeliveryFault {
  return isDeliveryKind(fault.kind);
}

/** All kinds, first those of requests. */
export const faultRows: Readonly<Record<FaultKind, unknown>> = { ...requestKinds, ...deliveryKinds };

export function rowOf(kind: FaultKind) {
  return faultRows[kind] as FaultRow<unknown, unknown>;
}

/** Returns the events whose deliveries a kind affects. */
export function eventsOf(kind: DeliveryFaultKind): readonly string[] {
  return deliveryKinds[kind].events ?? eventTypes.map(({ type }) => type);
}

interface Pending<F extends Fault = Fault> {
  readonly id: number;
  readonly fault: F;
  readonly addedAt: number;
  skip: number;
  left: number;
}

export class Faults {
  #list: Pending[] = [];
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
    const foreign = isDeliveryFault(fault) ? 'endpoint' : 'event';
    if (fault[foreign] !== undefined) throw new UsageError(`the fault ${fault.kind} has no ${foreign}`);
    const { skip = 0, times = rowOf(fault.kind).times ?? 1 } = fault;
    this.#added += 1;
    this.#list.push({ id: this.#added, fault, skip, left: times, addedAt: this.#now() });
  }

  /** Removes a fault; returns false if no pending fault has this id. */
  remove(id: number): boolean {
    const before = this.#list.length;
    this.#list = this.#list.filter((pending) => pending.id !== id);
    return this.#list.length < before;
  }

  clear(): void {
    this.#list = [];
  }

  get pending(): number {
    return this.#list.length;
  }

  get entries(): { id: number; fault: Fault }[] {
    return this.#list.map(({ id, fault, skip, left }) => ({ id, fault: { ...fault, skip, times: left } }));
  }

  get list(): Fault[] {
    return this.entries.map(({ fault }) => fault);
  }

  /** Counts a request and returns the fault that affects it, if any: the first one added that applies. */
  take(endpoint: FaultTarget | null): RequestFault | undefined {
    const matches = (fault: Fault): fault is RequestFault =>
      !isDeliveryFault(fault) &&
      (fault.endpoint === endpoint || (fault.endpoint === undefined && endpoint !== versionTarget));
    return this.#takeFirst(matches);
  }

  /** Counts a delivery and returns the fault that affects it, as `take` does for a request. */
  takeDelivery(event: string): DeliveryFault | undefined {
    const matches = (fault: Fault): fault is DeliveryFault =>
      isDeliveryFault(fault) &&
      (fault.event ?? event) === event &&
      eventsOf(fault.kind).some((affected) => affected === event);
    return this.#takeFirst(matches);
  }

  #takeFirst<F extends Fault>(matches: (fault: Fault) => fault is F): F | undefined {
    const matching = this.#list.filter((pending): pending is Pending<F> => matches(pending.fault));
    const applying = matching.find((pending) => this.#applies(pending));
    for (const pending of matching) pending.skip = Math.max(0, pending.skip - 1);
    if (applying === undefined) return undefined;
    applying.left -= 1;
    if (applying.left <= 0) this.remove(applying.id);
    return applying.fault;
  }

  #applies({ fault, skip, addedAt }: Pending): boolean {
    const { fromMs = 0, untilMs = Number.POSITIVE_INFINITY, chance = 1 } = fault;
    const age = this.#now() - addedAt;
    return skip === 0 && age >= fromMs && age < untilMs && (chance >= 1 || this.#random() < chance);
  }
}

/** @param wire the request or the delivery that the fault affects */
export async function playFault<F extends RequestFault | DeliveryFault>(
  fault: F,
  wire: F extends DeliveryFault ? DeliveryWire : Wire,
): Promise<void> {
  // The row and the fault have the same kind, but the compiler cannot infer that from the union.
  await (rowOf(fault.kind) as FaultRow<typeof wire, F>).play(wire, fault);
}
