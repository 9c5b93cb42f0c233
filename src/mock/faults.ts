import type { EndpointName } from '../contract/index.ts';
import { type FaultKind, type FaultKinds, faultKinds } from './fault-kinds.ts';
import type { Wire } from './wire.ts';

/** Which calls a fault is for. */
export interface FaultWhen {
  /** Only calls of this endpoint; any request where it is left out, those to no endpoint included. */
  endpoint?: EndpointName | undefined;
  /** How many calls it spoils before it is used up; 1 where it is left out, Infinity for all. */
  times?: number | undefined;
  /** How many matching calls it lets pass first, counted from when it was added. */
  skip?: number | undefined;
}

/** A kind with what it takes, and when. */
export type Fault = { [K in FaultKind]: { kind: K } & FaultKinds[K] }[FaultKind] & FaultWhen;

interface Pending {
  fault: Fault;
  skip: number;
  left: number;
}

export interface Faults {
  add(fault: Fault): void;
  /** Forgets all that are not used up. */
  clear(): void;
  /** How many are not used up. */
  readonly pending: number;
  /** Counts a call and returns the fault that it gets, if any: the first one added that is due. */
  take(endpoint: EndpointName | null): Fault | undefined;
}

export function createFaults(): Faults {
  let list: Pending[] = [];
  return {
    add(fault) {
      list.push({ fault, skip: fault.skip ?? 0, left: fault.times ?? 1 });
    },
    clear() {
      list = [];
    },
    get pending() {
      return list.length;
    },
    take(endpoint) {
      const matching = list.filter(
        ({ fault }) => fault.endpoint === undefined || fault.endpoint === endpoint,
      );
      const due = matching.find(({ skip }) => skip === 0);
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
