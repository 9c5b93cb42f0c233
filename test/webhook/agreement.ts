import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { expect, vi } from 'vitest';
import * as node from '../../src/webhook/node.ts';
import * as web from '../../src/webhook/web.ts';
import { type Make, signOptions, verifyOptions } from './hostile.ts';

/** How a call ended: what it gave, or the code of our class. Anything else escapes. */
type Outcome = { gave: unknown } | { code: string };

function outcomeOf(error: unknown): Outcome {
  if (node.WebhookVerificationError.is(error)) return { code: error.code };
  throw new Error('another class escaped', { cause: error });
}

function ofSync(call: () => unknown): Outcome {
  try {
    return { gave: call() };
  } catch (error) {
    return outcomeOf(error);
  }
}

/** A throw that is not a rejection is not caught here. */
function ofAsync(call: () => Promise<unknown>): Promise<Outcome> {
  return call().then((gave) => ({ gave }), outcomeOf);
}

async function agree(make: Make, calls: readonly ((options: never) => unknown)[]): Promise<Outcome> {
  const [sync, ...async] = calls;
  const first = ofSync(() => sync?.(make() as never));
  for (const call of async) {
    const other = await ofAsync(() => call(make() as never) as Promise<unknown>);
    if (!isDeepStrictEqual(other, first)) {
      throw new Error(`${JSON.stringify(first)} is not ${JSON.stringify(other)}`);
    }
  }
  return first;
}

/**
 * Runs that many generated inputs through both builds, each with `verify` and every fifth with `sign`, and gives how
 * many ended how.
 */
export async function agreement(inputs: number): Promise<Record<string, number>> {
  const ends: Record<string, number> = {};
  const count = (outcome: Outcome) => {
    const end = 'code' in outcome ? outcome.code : 'accepted';
    ends[end] = (ends[end] ?? 0) + 1;
  };
  const signs = Math.floor(inputs / 5);
  // One moment for both, where an input leaves it to the clock. Only Date stands still.
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
  return ends;
}

/** All codes that `verify` gives have come up. */
export function expectAllEnds(ends: Record<string, number>): void {
  expect(Object.keys(ends).toSorted()).toEqual([
    ...['accepted', 'bad_option', 'body_not_raw', 'duplicate_header', 'malformed_signature'],
    ...['malformed_timestamp', 'mismatch', 'missing_header', 'no_secret', 'too_new', 'too_old'],
  ]);
}
