import type { GateEvent } from '../../gate/events.ts';
import type { Io } from '../../host/io.ts';
import type { Output } from '../../output/output.ts';

/** The time after which something that goes on unchanged gets another line in the log. */
export const heartbeatMs = 60_000;
const outageLimit = 3;

/** Returns which failures get a line: the first three of an outage, then one a minute. */
export function outageLines({ clock }: Pick<Io, 'clock'>) {
  const outages = new Map<string | undefined, { lines: number; at: number }>();
  return {
    /** @param id what fails: a run, or a gate that creates one */
    isDue(id: string | undefined): boolean {
      const now = clock.monotonic();
      const { lines, at } = outages.get(id) ?? { lines: 0, at: now };
      if (lines >= outageLimit && now - at < heartbeatMs) return false;
      outages.set(id, { lines: lines + 1, at: now });
      return true;
    },
    end: (id: string | undefined) => void outages.delete(id),
  };
}

/** Returns how the lines about the version page are chosen. Before the run is created, builds may alternate from read to read. */
export function buildLines({ clock }: Pick<Io, 'clock'>, { excerpt, paint }: Output) {
  const shown = new Map<string, number>();
  let last = '';
  return ({ phase, text, matches, agreed, error }: Extract<GateEvent, { type: 'deployed' }>) => {
    const build = error === null ? `the deployed build is "${text}"` : error.message;
    const what = excerpt(build, 400);
    const changed = what !== last;
    last = what;
    if (agreed) return `${what}, as expected`;
    if (phase === 'before') {
      if (matches) return null;
      const now = clock.monotonic();
      if (now - (shown.get(what) ?? Number.NEGATIVE_INFINITY) < heartbeatMs) return null;
      shown.set(what, now);
      return `${what}; rungate creates the run when the expected build is deployed`;
    }
    if (!changed) return null;
    if (error !== null) return `${what}; rungate reads it again`;
    return matches ? what : `${paint('warn', 'warning:')} ${what}, not the expected one`;
  };
}
