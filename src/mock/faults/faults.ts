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
  id: number;
  fault: Fault;
  skip: number;
  left: number;
  addedAt: number;
}

export interface Faults {
  add(fault: Fault): void;
  /** Forgets all that are not used up. */
  clear(): void;
  /** How many are not used up. */
  readonly pending: number;
  /** Those that are not used up, with what is left of them. */
  readonly list: readonly Fault[];
  /** The same, each with what `remove` knows it by. */
  readonly entries: readonly { readonly id: number; readonly fault: Fault }[];
  /** Forgets one; false where there is none of that id, or none any more. */
  remove(id: number): boolean;
  /** Counts a call and returns the fault that it gets, if any: the first one added that is due. */
  take(endpoint: EndpointName | null): Fault | undefined;
}

/** @param now the mock's clock in milliseconds, @param random draws for faults with a `chance` */
export function createFaults(now: () => number = () => 0, random: () => number = () => 0): Faults {
  let list: Pending[] = [];
  let added = 0;
  const remaining = ({ fault, skip, left }: Pending): Fault => ({ ...fault, skip, times: left });
  const isDue = ({ fault, skip, addedAt }: Pending) => {
    const { fromMs = 0, untilMs = Number.POSITIVE_INFINITY, chance = 1 } = fault;
    const age = now() - addedAt;
    return skip === 0 && age >= fromMs && age < untilMs && (chance >= 1 || random() < chance);
  };
  return {
    add(fault) {
      const left = fault.times ?? usualTimes[fault.kind] ?? 1;
      added += 1;
      list.push({ id: added, fault, skip: fault.skip ?? 0, left, addedAt: now() });
    },
    clear() {
      list = [];
    },
    get pending() {
      return list.length;
    },
    get list() {
      return list.map(remaining);
    },
    get entries() {
      return list.map((one) => ({ id: one.id, fault: remaining(one) }));
    },
    remove(id) {
      const before = list.length;
      list = list.filter((one) => one.id !== id);
      return list.length < before;
    },
    take(endpoint) {
      const matching = list.filter(
        ({ fault }) => fault.endpoint === undefined || fault.endpoint === endpoint,
      );
      const due = matching.find(isDue);
      for (const one of matching) one.skip = Math.max(0, one.skip - 1);
      if (due === undefined) return undefined;
      due.left -= 1;
      if (due.left <= 0) list = list.filter((one) => one !== due);
      return due.fault;
    },
  };
}

export async function playFault(fault: Fault, wire: Wire): Promise<void> {
  // The row and the fault are of one kind; the compiler cannot follow that through the union.
  const play = faultKinds[fault.kind] as (fault: Fault, wire: Wire) => void | Promise<void>;
  await play(fault, wire);
}
