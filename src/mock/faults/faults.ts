import type { EndpointName } from '../../contract/index.ts';
import { defaultTimes, type FaultKind, type FaultKinds, faultKinds } from './fault-kinds.ts';
import type { Wire } from './wire.ts';

/** The requests that a fault affects. */
export interface FaultWhen {
  /** Affects only requests to this endpoint; by default any request, including those to no endpoint. */
  endpoint?: EndpointName | undefined;
  /** The number of requests that it affects; default 1, Infinity for all. */
  times?: number | undefined;
  /** The number of matching requests that pass first, counted from when the fault was added. */
  skip?: number | undefined;
  /** The probability, from 0 to 1, that it affects a matching request; drawn by the mock's seed. */
  chance?: number | undefined;
  /** The time window in which it applies: milliseconds of the mock's clock since the fault was added. */
  fromMs?: number | undefined;
  untilMs?: number | undefined;
}

/** An error between client and service that the mock makes on purpose: its kind, parameters and conditions. */
export type Fault = { [K in FaultKind]: { kind: K } & FaultKinds[K] }[FaultKind] & FaultWhen;

interface Pending {
  readonly id: number;
  readonly fault: Fault;
  readonly addedAt: number;
  skip: number;
  left: number;
}

/** The pending faults. */
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

  add(fault: Fault): void {
    const { skip = 0, times = defaultTimes[fault.kind] ?? 1 } = fault;
    this.#added += 1;
    this.#list.push({ id: this.#added, fault, skip, left: times, addedAt: this.#now() });
  }

  /** Removes a fault; returns false if no pending fault has this id. */
  remove(id: number): boolean {
    const before = this.#list.length;
    this.#list = this.#list.filter((one) => one.id !== id);
    return this.#list.length < before;
  }

  clear(): void {
    this.#list = [];
  }

  get pending(): number {
    return this.#list.length;
  }

  /** The faults with their remaining counts, each with the id that `remove` takes. */
  get entries(): { id: number; fault: Fault }[] {
    return this.#list.map(({ id, fault, skip, left }) => ({ id, fault: { ...fault, skip, times: left } }));
  }

  get list(): Fault[] {
    return this.entries.map(({ fault }) => fault);
  }

  /** Counts a request and returns the fault that affects it, if any: the first one added that applies. */
  take(endpoint: EndpointName | null): Fault | undefined {
    const matching = this.#list.filter(({ fault }) => (fault.endpoint ?? endpoint) === endpoint);
    const applying = matching.find((one) => this.#applies(one));
    for (const one of matching) one.skip = Math.max(0, one.skip - 1);
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

export async function playFault(fault: Fault, wire: Wire): Promise<void> {
  // The entry and the fault have the same kind, but the compiler cannot infer that from the union.
  const play = faultKinds[fault.kind] as (wire: Wire, fault: Fault) => unknown;
  await play(wire, fault);
}
