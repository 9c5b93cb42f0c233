/** Requests a minute that the service grants a tenant, as typical limits (interface, section 8). */
export const ceilings = { all: 100, reads: 60, creates: 20 } as const;

const minuteMs = 60_000;

/**
 * When the next read may be sent so that no minute holds more reads than the ceiling.
 * `past`: when earlier reads were sent, in order; `due`: when the next one is wanted; all in milliseconds.
 */
export function nextReadAt(past: readonly number[], due: number, ceiling: number = ceilings.reads): number {
  const oldest = past[past.length - ceiling];
  return oldest === undefined ? due : Math.max(due, oldest + minuteMs);
}
