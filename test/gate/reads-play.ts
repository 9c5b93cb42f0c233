import { expect } from 'vitest';
import { HttpError, NetworkError, type NetworkFault, UnexpectedResponseError } from '../../src/errors.ts';
import { errorData, requestedMs } from '../../src/gate/error-data.ts';
import { failureOf } from '../../src/gate/failed-read.ts';
import {
  addFailure,
  addReading,
  newRun,
  type ReadFailure,
  type Reading,
  type WaitLimits,
} from '../../src/gate/reads.ts';
import type { ErrorData, GateRules, RunState } from '../../src/gate/state.ts';
import { readStatus } from '../without-redaction.ts';
import { gateRulesOf } from './rules.ts';

/** A status or an error, and the wait that the response requests. */
export type Result = { retryAfterMs: number | null } & (
  | { reading: Reading }
  | { why: ReadFailure; error: ErrorData }
);

export interface Step {
  result: Result;
  before: RunState;
  run: RunState;
  /** The time of the read. */
  now: number;
  /** The wait until the next read. */
  waitMs: number;
}

export interface Play extends Partial<GateRules & WaitLimits> {
  /** When the gate created the run; null if another command did. */
  createdAt?: number | null;
}

const rules = gateRulesOf();

export function status(json: unknown, retryAfterMs: number | null = null): Result {
  const reading = readStatus(json);
  return reading.kind === 'broken' ? expect.fail('a broken response is an error') : { reading, retryAfterMs };
}

export const running = (retryAfterSeconds?: number, retryAfterMs?: number | null) =>
  status({ state: 'in_progress', retryAfterSeconds }, retryAfterMs);
export const ended = (state: string, failed = 0, blocked = 0) => status({ state, failed, blocked });

export function failedWith(error: Parameters<typeof failureOf>[0], cut = false): Result {
  return { why: failureOf(error, cut), error: errorData(error), retryAfterMs: requestedMs(error) };
}

/** An error of the service itself. */
export const http = (code: number, retryAfterMs?: number) =>
  failedWith(new HttpError(`${code}`, { status: code, error: `${code}`, retryAfterMs }));

/** A response of something in front of the service. */
export const foreign = (code: number, retryAfterMs?: number) =>
  failedWith(new HttpError(`${code}`, { status: code, retryAfterMs }));

export const network = (fault: NetworkFault) => failedWith(new NetworkError(fault, fault));

export const broken = (field: string, unreadable = false) =>
  failedWith(
    new UnexpectedResponseError('broken', { field, expected: 'something', received: 'nothing', unreadable }),
  );

export const errorOf = (result: Result) => ('error' in result ? result.error : null);

/** Returns the run after a read. */
export function afterRead(before: RunState, result: Result, play: Play, now: number, random = 0): RunState {
  const run = structuredClone(before);
  const pause = { retryAfterMs: result.retryAfterMs, random };
  const limits: WaitLimits = { deadline: play.deadline ?? Number.POSITIVE_INFINITY, hub: play.hub ?? false };
  const all = { ...rules, ...play };
  if ('reading' in result) addReading(run, result.reading, pause, all, limits, now);
  else addFailure(run, result.why, result.error, pause, all, limits, now);
  return run;
}

export const unread = ({ createdAt = null }: Play = {}): RunState =>
  newRun('run_1', { key: createdAt === null ? null : 'key', since: createdAt ?? 0, due: 0 });

/** Reads until the wait ends or there are no more results. Time only passes in the waits. */
export function play(
  results: readonly Result[],
  options: Play = {},
  random: (read: number) => number = () => 0,
): Step[] {
  const steps: Step[] = [];
  let run = unread(options);
  for (const [index, result] of results.entries()) {
    const before = run;
    const now = run.due;
    run = afterRead(before, result, options, now, random(index));
    steps.push({ result, before, run, now, waitMs: run.due - now });
    if (run.outcome !== null) break;
  }
  return steps;
}

/** Returns the last read of a play. */
export const readAll = (results: readonly Result[], options: Play = {}, random = 0): Step =>
  play(results, options, () => random).at(-1) ?? expect.fail('nothing was read');

/** Returns the wait after the last read. It fails if the wait for the run has ended. */
export function waitAfter(results: readonly Result[], options: Play = {}, random = 0): number {
  const { run, waitMs } = readAll(results, options, random);
  expect(run.outcome).toBeNull();
  return waitMs;
}
