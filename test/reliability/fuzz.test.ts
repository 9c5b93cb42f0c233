import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCaller } from '../../src/client/caller.ts';
import { run } from '../../src/contract/run.ts';
import { RungateError } from '../../src/errors.ts';
import { exitCodeOf, exitCodes } from '../../src/exit.ts';
import { nameInCommands } from '../../src/options/spelling.ts';
import type { RawReply } from '../../src/transport/transport.ts';
import { memoryIo } from '../cli/harness.ts';
import { fakeClock } from '../fake-clock.ts';

const numRuns = 200;

/** JSON that resembles a status more or less. */
const almostStatus = fc.record(
  {
    state: fc.oneof(
      fc.constantFrom('in_progress', 'completed', 'cancelled', 'Completed', ''),
      fc.jsonValue(),
    ),
    failed: fc.oneof(fc.constantFrom(0, 1, -1, 0.5, '0', null, -0, 1e21), fc.jsonValue()),
    blocked: fc.oneof(fc.constantFrom(0, 1, -1, 0.5, '0', null), fc.jsonValue()),
    retryAfterSeconds: fc.oneof(fc.double(), fc.jsonValue()),
    appUrl: fc.oneof(fc.webUrl(), fc.jsonValue()),
    runId: fc.jsonValue(),
  },
  { requiredKeys: [] },
);

const bodies = fc.oneof(
  { weight: 4, arbitrary: almostStatus.map((value) => JSON.stringify(value)) },
  fc.json(),
  fc.string({ unit: 'binary' }),
  fc.nat(3000).map((depth) => `${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`),
  fc.constantFrom('', ' ', 'null', '[]', '{}', '<html>', '\ufeff{}', '{"state":"completed"'),
);

const retryAfter = fc.oneof(
  fc.string(),
  fc.double().map(String),
  fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
  fc.constantFrom('-1', '1e3', '0x10', 'Infinity', 'NaN', '9'.repeat(400), ' 5 ', '5, 7', '١'),
);

const headers = fc
  .record(
    {
      'retry-after': retryAfter,
      date: retryAfter,
      location: fc.oneof(fc.string(), fc.webUrl(), fc.constantFrom('//x', '/', 'javascript:1', '/a/%zz')),
      'content-encoding': fc.oneof(fc.string(), fc.constantFrom('gzip', 'identity', '')),
      'idempotency-replayed': fc.string(),
      'x-request-id': fc.string({ unit: 'binary' }),
      'ratelimit-remaining': fc.string(),
      'ratelimit-reset': fc.string(),
      'ratelimit-limit': fc.string(),
    },
    { requiredKeys: [] },
  )
  .map((record) => ({ ...record }) as Record<string, string>);

const status = fc.oneof(
  { weight: 4, arbitrary: fc.constant(200) },
  fc.constantFrom(201, 204, 301, 304, 307, 400, 401, 403, 404, 408, 409, 422, 429, 500, 502, 503, 504, 599),
  fc.integer({ min: 200, max: 599 }),
);

const responses: fc.Arbitrary<RawReply> = fc.record({ status, headers, text: bodies });

function callerOf(list: readonly RawReply[]) {
  let at = 0;
  const clock = fakeClock();
  const caller = createCaller(
    {
      apiUrl: 'https://service.example',
      apiKey: 'rg_secret_0123456789',
      token: 'tok_secret_0123456789',
      clock,
      random: () => 0.5,
      transport: {
        send: async () => list[Math.min(at++, list.length - 1)] as RawReply,
        close: async () => {},
      },
    },
    nameInCommands,
  );
  return { caller, clock };
}

/** Returns the error, which must be a RungateError other than a bug, or null. */
async function expectedError(promise: Promise<unknown>): Promise<RungateError | null> {
  try {
    await promise;
    return null;
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    expect(exitCodeOf(error)).not.toBe(exitCodes.bug);
    expect(error.message.length).toBeLessThan(3000);
    return error;
  }
}

memoryIo();

describe('for any response of the service', () => {
  it('a call returns a value or throws a RungateError, within its timeout and without the key', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(responses, { minLength: 1, maxLength: 5 }), async (list) => {
        const { caller, clock } = callerOf(list);
        const body = { projectSlug: 'shop', processSlug: 'checkout' };
        const error = await expectedError(
          caller.exchange('run.trigger', run['run.trigger'], { params: {}, body }),
        );
        expect(clock.monotonic()).toBeLessThanOrEqual(120_000);
        expect(`${error?.message} ${error?.hint}`).not.toContain('secret_0123456789');
      }),
      { numRuns },
    );
  });
});
