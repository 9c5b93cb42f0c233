import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod/mini';
import { type ClientOptions, createCaller } from '../../src/client/caller.ts';
import { readPages } from '../../src/client/pages.ts';
import { ceilings, Pace, rateLimitLeft } from '../../src/client/rate-limit.ts';
import { api } from '../../src/contract/index.ts';
import { type CountedRequest, decide, documentedLimits } from '../../src/mock/rate-limit.ts';
import type { RawReply, Transport } from '../../src/transport/transport.ts';
import { cli } from '../cli/harness.ts';
import { fakeClock } from '../fake-clock.ts';
import { json, serve } from '../transport/serve.ts';

const minute = 60_000;
const now = Date.UTC(2026, 0, 15, 12);

describe('rate limit headers', () => {
  test.each<[Record<string, string>, number, number]>([
    [{ 'ratelimit-remaining': '7', 'ratelimit-reset': '30' }, 7, 30_000],
    [{ 'ratelimit-remaining': '0', 'ratelimit-reset': '0' }, 0, 0],
    [{ 'ratelimit-remaining': '5' }, 5, minute],
    [{ 'ratelimit-remaining': '5, 9', 'ratelimit-reset': '30, 60' }, 5, 30_000],
    [{ 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': '12.5' }, 3, 12_500],
    [{ 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': String(now / 1000 + 20) }, 3, 20_000],
    [{ 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': String(now + 20_000) }, 3, 20_000],
    [{ 'x-ratelimit-remaining': '3', 'x-ratelimit-reset': String(now / 1000 - 20) }, 3, 0],
    [{ 'x-rate-limit-remaining': '2', 'x-rate-limit-reset': '4' }, 2, 4_000],
    [{ ratelimit: 'limit=100, remaining=50, reset=5' }, 50, 5_000],
    [{ ratelimit: '"default";r=50;t=30' }, 50, 30_000],
    [{ ratelimit: '"burst";r=9;t=1, "daily";r=4;t=400' }, 4, 400_000],
    [{ ratelimit: '"a";r=0;t=1,"b";r=0;t=9' }, 0, 9_000],
    [{ ratelimit: '"default";r=50;t=30', 'x-ratelimit-remaining': '1' }, 50, 30_000],
    [{ ratelimit: 'nonsense', 'ratelimit-remaining': '1', 'ratelimit-reset': '2' }, 1, 2_000],
  ])('reads the limits from %j', (headers, remaining, resetMs) => {
    expect(rateLimitLeft(headers, now)).toEqual({ remaining, resetMs });
  });

  test.each([{}, { 'ratelimit-remaining': 'many' }, { 'ratelimit-remaining': '-1' }, { ratelimit: '' }])(
    'ignores %j',
    (headers) => expect(rateLimitLeft(headers as Record<string, string>, now)).toBeUndefined(),
  );

  test('reads a count and a time from any headers, or ignores them', () => {
    const content = fc.oneof(
      fc.string(),
      fc.string({ unit: fc.constantFrom(...'0123456789=;,. "rt-limaneg') }),
    );
    const headers = fc.dictionary(
      fc.constantFrom(
        'ratelimit',
        'ratelimit-remaining',
        'ratelimit-reset',
        'x-ratelimit-remaining',
        'x-ratelimit-reset',
      ),
      content,
    );
    fc.assert(
      fc.property(headers, (given) => {
        const left = rateLimitLeft(given, now);
        if (left === undefined) return;
        expect(Number.isFinite(left.remaining) && left.remaining >= 0).toBe(true);
        expect(Number.isFinite(left.resetMs) && left.resetMs >= 0).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('without headers', () => {
  const wanted = fc.array(
    fc.record({ kind: fc.constantFrom('read', 'create', 'other'), gap: fc.oneof(fc.nat(20), fc.nat(5_000)) }),
    { maxLength: 400 },
  );

  test('sends no more than the ceilings in any minute, and waits only if it must', () => {
    fc.assert(
      fc.property(wanted, (requests) => {
        const pace = new Pace(true);
        const log: { at: number; kind: string }[] = [];
        const within = (kind: string | null, at: number) =>
          log.filter((one) => at - one.at < minute && (kind === null || one.kind === kind)).length;
        const full = (kind: string, at: number) =>
          within(null, at) >= ceilings.all ||
          (kind === 'read' && within(kind, at) >= ceilings.reads) ||
          (kind === 'create' && within(kind, at) >= ceilings.creates);
        let time = 0;
        for (const { kind, gap } of requests) {
          time += gap;
          const at = pace.nextAt(kind, time);
          expect(at).toBeGreaterThanOrEqual(time);
          // A request waits only until there is room.
          if (at > time) expect(full(kind, at - 0.001)).toBe(true);
          expect(full(kind, at)).toBe(false);
          time = at;
          pace.sent(kind, at);
          log.push({ at, kind });
        }
      }),
      { numRuns: 200 },
    );
  });

  test('does not wait before the first 429 if the documented limits do not apply', () => {
    const pace = new Pace(false);
    for (let i = 0; i < 500; i += 1) {
      expect(pace.nextAt('read', i)).toBe(i);
      pace.sent('read', i);
      pace.replied('read', 200, undefined, i);
    }
    pace.replied('read', 429, undefined, 500);
    expect(pace.nextAt('read', 500)).toBe(440 + minute);
  });
});

describe('with headers', () => {
  test('uses the limits in the headers, whether higher or lower than the ceilings', () => {
    const pace = new Pace(true);
    for (let i = 0; i < 500; i += 1) {
      expect(pace.nextAt('read', i)).toBe(i);
      pace.sent('read', i);
      pace.replied('read', 200, { remaining: 1000, resetMs: minute }, i);
    }
    pace.replied('read', 200, { remaining: 0, resetMs: 7_000 }, 500);
    expect(pace.nextAt('read', 500)).toBe(7_500);
    expect(pace.nextAt('read', 8_000)).toBe(8_000);
  });

  test('subtracts the requests sent since the last response', () => {
    const pace = new Pace(true);
    pace.replied('read', 200, { remaining: 2, resetMs: 9_000 }, 0);
    pace.sent('read', 0);
    expect(pace.nextAt('read', 0)).toBe(0);
    pace.sent('read', 0);
    expect(pace.nextAt('read', 0)).toBe(9_000);
  });

  test('waits at most a minute, even if the reset is a year away', () => {
    const pace = new Pace(true);
    pace.replied('read', 200, { remaining: 0, resetMs: 3e10 }, 0);
    expect(pace.nextAt('read', 0)).toBe(minute);
  });
});

/** Simulates a service with the documented limits and pages of one item; counts responses and refusals. */
function service(clock: ReturnType<typeof fakeClock>, pages: number, headers: boolean) {
  let log: readonly CountedRequest[] = [];
  const seen = { responses: 0, refused: 0 };
  const transport: Transport = {
    async send(request): Promise<RawReply> {
      clock.advance(20);
      const decision = decide(log, 'read', clock.monotonic(), documentedLimits);
      log = decision.log;
      seen.responses += 1;
      const limitHeaders: Record<string, string> = headers
        ? {
            'ratelimit-remaining': String(decision.remaining),
            'ratelimit-reset': String(Math.ceil(decision.resetMs / 1000)),
          }
        : {};
      if (!decision.allowed) {
        seen.refused += 1;
        return { status: 429, headers: limitHeaders, text: '{"error":"Rate limit exceeded"}' };
      }
      const page = Number(request.url.searchParams.get('page'));
      const numbers = {
        page,
        pageSize: 1,
        totalPages: pages,
        hasNextPage: page < pages,
        hasPreviousPage: page > 1,
      };
      const text = JSON.stringify({ items: [{ id: page }], ...numbers });
      return { status: 200, headers: { 'content-type': 'application/json', ...limitHeaders }, text };
    },
    close: async () => {},
  };
  return { transport, seen };
}

async function listAll(options: Partial<ClientOptions>, pages: number, headers: boolean) {
  const clock = fakeClock();
  const { transport, seen } = service(clock, pages, headers);
  const apiUrl = 'https://service.example.com';
  const caller = createCaller({ apiUrl, token: 'token-1', clock, random: () => 0.5, transport, ...options });
  onTestFinished(() => caller.close());
  const endpoint = { ...api['observations.list'], response: z.unknown() };
  let items = 0;
  const input = { params: { projectId: 'p1' } };
  const read = readPages(caller, 'observations.list', endpoint, input, (_, page) => page.items.length);
  for await (const page of read) items += page.converted;
  return { items, ...seen, minutes: clock.monotonic() / minute };
}

describe('a list of 200 pages', () => {
  test('is read without a 429 if the service sends the documented limits in headers', async () => {
    const { items, refused, minutes } = await listAll({}, 200, true);
    expect({ items, refused }).toEqual({ items: 200, refused: 0 });
    expect(minutes).toBeLessThan(4.5);
  });

  test('is read without a 429 if the service does not send the documented limits', async () => {
    const { items, refused, minutes } = await listAll({}, 200, false);
    expect({ items, refused }).toEqual({ items: 200, refused: 0 });
    expect(minutes).toBeLessThan(3.5);
  });

  test('is read without waiting up to the ceiling', async () => {
    expect((await listAll({}, 60, false)).minutes).toBeLessThan(0.1);
  });

  test('runs into the limits with `pace: false`', async () => {
    const { items, refused } = await listAll({ pace: false }, 70, false);
    expect(items).toBe(70);
    expect(refused).toBeGreaterThan(0);
  });

  test('is read without waiting from a local service that sends no limits', async () => {
    const { url } = await serve(({ seen, response }) => {
      const page = Number(new URL(seen.url, 'http://x').searchParams.get('page'));
      const numbers = {
        page,
        pageSize: 1,
        totalPages: 200,
        hasNextPage: page < 200,
        hasPreviousPage: page > 1,
      };
      json(response, 200, { items: [{ id: `o${page}` }], totalCount: 200, ...numbers });
    });
    const clock = fakeClock();
    const env = { RUNGATE_API_URL: url, RUNGATE_TOKEN: 'token-hunter22' };
    const { code } = await cli(['observations', 'list', 'p1', '--all', '--json'], { clock, env });
    expect(code).toBe(0);
    expect(clock.sleeps).toEqual([]);
  });
});
