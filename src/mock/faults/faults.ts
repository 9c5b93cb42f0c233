import type { EndpointName } from '../../contract/index.ts';
import { type FaultKind, type FaultKinds, faultKinds, usualTimes } from './kinds.ts';
import type { Wire } from './wire.ts';

/** Which calls a fault is for. */
export interface FaultWhen {
  /** Only calls of this endpoint; any request where it is left out, those to no endpoint included. */
  endpoint?: EndpointName | undefined;
  /** How many calls it spoils before it is used up; 1 where it is left out, Infinity for all. */
  times?: number | undefined;
  /** How many matching calls it lets pass first, counted from when it was added. */
  skip?: number | undefined;
  /** The probability, from 0 to 1, that a call it is due for is spoiled; drawn by the mock's seed. */
  chance?: number | undefined;
  /** The window in which it is due: milliseconds of the mock's clock from when it was added. */
  fromMs?: number | undefined;
  untilMs?: number | undefined;
}

/** Something that goes wrong between client and service: its kind with what that takes, and when. */
export type Fault = { [K in FaultKind]: { kind: K } & FaultKinds[K] }[FaultKind] & FaultWhen;

interface Pending {
  readonly id: number;
  readonly fault: Fault;
  readonly addedAt: number;
  skip: number;
  left: number;
}

/** The faults that are not used up. */
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
    const { skip = 0, times = usualTimes[fault.kind] ?? 1 } = fault;
    this.#added += 1;
    this.#list.push({ id: this.#added, fault, skip, left: times, addedAt: this.#now() });
  }

  /** Forgets one; false where there is none of that id, or none any more. */
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

  /** With what is left of them, each with what `remove` knows it by. */
  get entries(): { id: number; fault: Fault }[] {
    return this.#list.map(({ id, fault, skip, left }) => ({ id, fault: { ...fault, skip, times: left } }));
  }

  get list(): Fault[] {
    return this.entries.map(({ fault }) => fault);
  }

  /** Counts a call and returns the fault that it gets, if any: the first one added that is due. */
  take(endpoint: EndpointName | null): Fault | undefined {
    const matching = this.#list.filter(({ fault }) => (fault.endpoint ?? endpoint) === endpoint);
    const due = matching.find((one) => this.#isDue(one));
    for (const one of matching) one.skip = Math.max(0, one.skip - 1);
    if (due === undefined) return undefined;
    due.left -= 1;
    if (due.left <= 0) this.remove(due.id);
    return due.fault;
  }

  #isDue({ fault, skip, addedAt }: Pending): boolean {
    const { fromMs = 0, untilMs = Number.POSITIVE_INFINITY, chance = 1 } = fault;
    const age = this.#now() - addedAt;
    return skip === 0 && age >= fromMs && age < untilMs && (chance >= 1 || this.#random() < chance);
  }
}

export async function playFault(fault: Fault, wire: Wire): Promise<void> {
  // The row and the fault are of one kind; the compiler cannot follow that through the union.
  const play = faultKinds[fault.kind] as (wire: Wire, fault: Fault) => unknown;
  await play(wire, fault);
}
