import type { RecordedRequest } from '../exchange.ts';
import type { Faults } from '../faults/faults.ts';
import type { State } from '../state.ts';

/** What is known of a request beside what came over the wire. */
export interface Note {
  readonly number: number;
  /** The run that it made, or found by its key. */
  runId?: string;
  /** The kind of fault that it met. */
  fault?: string;
}

/** What the page looks at. */
export interface Scene {
  readonly state: State;
  readonly faults: Faults;
  /** Oldest first. */
  readonly requests: readonly RecordedRequest[];
  readonly tenantSecret: string | undefined;
  /** Wall-clock milliseconds when the page's time began. */
  readonly openedAt: number;
  /** What to add to a monotonic time to have the wall clock's. */
  readonly offset: number;
  note(request: RecordedRequest): Note;
}

export function createScene(parts: Pick<Scene, 'state' | 'faults' | 'requests' | 'tenantSecret'>): Scene {
  const { clock } = parts.state;
  const notes = new WeakMap<RecordedRequest, Note>();
  let noted = 0;
  return {
    ...parts,
    openedAt: clock.now(),
    offset: clock.now() - clock.monotonic(),
    note(request) {
      const found = notes.get(request) ?? { number: ++noted };
      notes.set(request, found);
      return found;
    },
  };
}
