import { expect } from 'vitest';
import { exitCodes } from '../../src/exit.ts';
import type { GateReport, GatesReport } from '../../src/gate/result-types.ts';
import type { Ended, Kill, Launch, Machine } from './machine.ts';
import type { Service } from './service.ts';

/** One command of a caller that holds a gate. */
export interface Command {
  kill: Kill | null;
  signal: Launch['signal'];
  /** Whether it repeats the first command although it has the one that goes on. */
  repeats: boolean;
  /** The time before it, in seconds. */
  pause: number;
  /** A place in the id, from 0 up to 1, where the caller edits it first; null for no such command. */
  edit: number | null;
}

export const plain: Command = {
  ...{ repeats: false, pause: 1, edit: null, kill: null, signal: null },
};

type Report = (GateReport | GatesReport) & { next?: string[] };

/** The end that the caller has seen. */
export interface Held {
  code: number;
  report: Report;
  ended: Ended;
  /** All commands of the caller. */
  commands: Ended[];
}

export interface Rules {
  first: readonly string[];
  sliceMs: number;
  timeoutMs: number;
  /** When the disk becomes read-only. */
  readOnlyAt: number;
  /** A path that must not exist while the gate goes on. */
  junit: string;
  several: boolean;
  /** Whether no other caller holds the gate. */
  alone: boolean;
}

function parsed(out: string): Report | null {
  try {
    return JSON.parse(out) as Report;
  } catch {
    return null;
  }
}

const editedAt = (word: string, place: number) => {
  const at = Math.min(word.length - 1, Math.floor(place * word.length));
  const other = word[at] === 'a' ? 'b' : 'a';
  return `${word.slice(0, at)}${other}${word.slice(at + 1)}`;
};

/**
 * Holds a gate as an agent does, with random accidents, until it has its exit code. Returns null if the gate could not
 * be stored, or if a command was killed after it had printed its result, so that the next one would begin another gate.
 */
export async function hold(
  on: Machine,
  service: Service,
  rules: Rules,
  commands: readonly Command[],
): Promise<Held | null> {
  const { first, sliceMs, timeoutMs, readOnlyAt, several, alone } = rules;
  const launched: Ended[] = [];
  let begunAt = 0;
  let next: string[] | null = null;
  for (let count = 0; count < 200; count += 1) {
    const { repeats, pause, edit, ...accidents } = commands[count] ?? plain;
    await on.pause(pause * 1000);
    // The timeout begins with the first request.
    if (next === null && (count === 0 || service.requests.length === 0)) begunAt = on.now();
    if (edit !== null && next !== null) {
      const sent = service.requests.length;
      const state = on.state();
      const argv = [...next.slice(1, -1), editedAt(next.at(-1) ?? '', edit)];
      const { code, out } = await on.launch({ argv });
      expect({ code, out }).toEqual({ code: exitCodes.config, out: '' });
      if (alone) expect(on.state()).toBe(state);
      if (alone) expect(service.requests.length).toBe(sent);
    }
    const argv: readonly string[] = next === null || repeats ? first : next.slice(1);
    const ended = await on.launch({ argv, ...accidents });
    const { code, out, startedAt, endedAt } = ended;
    launched.push(ended);
    // It could not be stored at all, or no longer after the end of its slice.
    if (code === exitCodes.config && endedAt >= readOnlyAt) return null;
    if (endedAt < readOnlyAt) expect(endedAt - startedAt).toBeLessThanOrEqual(sliceMs + 15_000);
    if (!several && alone)
      expect(endedAt).toBeLessThanOrEqual(Math.max(startedAt, begunAt + timeoutMs) + 15_000);
    const report = parsed(out);
    if (report?.next !== undefined) {
      next = report.next;
      if (alone) expect(on.files[rules.junit]).toBeUndefined();
    }
    if (code === null) {
      if (report !== null && report.next === undefined) return null;
      continue;
    }
    if (code === exitCodes.waiting)
      expect(report).toMatchObject({ result: 'waiting', next: expect.anything() });
    if (code === exitCodes.SIGTERM || code === exitCodes.SIGHUP) {
      if (endedAt < readOnlyAt) expect(report?.next).toBeDefined();
      continue;
    }
    if (report?.next !== undefined) continue;
    expect(report, ended.err).not.toBeNull();
    return { code, report: report as Report, ended, commands: launched };
  }
  throw new Error('the gate did not end');
}
