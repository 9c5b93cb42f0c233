import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, vi } from 'vitest';
import * as node from '../../src/webhook/node.ts';
import * as web from '../../src/webhook/web.ts';
import { type Make, signOptions, verifyOptions } from './hostile.ts';

/** The result of a call, or the code of its WebhookVerificationError. */
type Outcome = { value: unknown } | { code: string };

function outcomeOf(error: unknown): Outcome {
  if (node.WebhookVerificationError.is(error)) return { code: error.code };
  throw new Error('the call threw an error of another class', { cause: error });
}

function ofSync(call: () => unknown): Outcome {
  try {
    return { value: call() };
  } catch (error) {
    return outcomeOf(error);
  }
}

/** Does not catch a synchronous throw, which would be a bug. */
function ofAsync(call: () => Promise<unknown>): Promise<Outcome> {
  return call().then((value) => ({ value }), outcomeOf);
}

async function agree(make: Make, calls: readonly ((options: never) => unknown)[]): Promise<Outcome> {
  const [sync, ...async] = calls;
  const first = ofSync(() => sync?.(make() as never));
  for (const call of async) {
    const other = await ofAsync(() => call(make() as never) as Promise<unknown>);
    if (!isDeepStrictEqual(other, first)) {
      throw new Error(`${JSON.stringify(first)} differs from ${JSON.stringify(other)}`);
    }
  }
  return first;
}

/**
 * Runs generated inputs through both builds, four fifths with `verify` and the rest with `sign`, and returns the number
 * of each outcome.
 */
export async function agreement(inputs: number): Promise<Record<string, number>> {
  const outcomes: Record<string, number> = {};
  const count = (outcome: Outcome) => {
    const end = 'code' in outcome ? outcome.code : 'accepted';
    outcomes[end] = (outcomes[end] ?? 0) + 1;
  };
  const signs = Math.floor(inputs / 5);
  // Freeze Date, so that both builds use the same time for inputs without `now`.
  vi.setSystemTime('2026-07-01T12:00:00Z');
  try {
    await fc.assert(
      fc.asyncProperty(verifyOptions, async (make) =>
        count(await agree(make, [node.verifySync, node.verify, web.verify])),
      ),
      { numRuns: inputs - signs },
    );
    await fc.assert(
      fc.asyncProperty(signOptions, async (make) => {
        await agree(make, [node.signSync, node.sign, web.sign]);
      }),
      { numRuns: signs },
    );
  } finally {
    vi.useRealTimers();
  }
  return outcomes;
}

/** Expects that every code of `verify` occurred. */
export function expectAllOutcomes(outcomes: Record<string, number>): void {
  expect(Object.keys(outcomes).toSorted()).toEqual([
    ...['accepted', 'bad_option', 'body_not_raw', 'duplicate_header', 'malformed_signature'],
    ...['malformed_timestamp', 'mismatch', 'missing_header', 'no_secret', 'too_new', 'too_old'],
  ]);
}
