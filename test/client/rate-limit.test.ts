import fc from 'fast-check';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod/mini';
import { type CallerOptions, createCaller } from '../../src/client/caller.ts';
import { readPages } from '../../src/client/pages.ts';
import { ceilings, Pace } from '../../src/client/rate-limit.ts';
import { api } from '../../src/contract/index.ts';
import { type CountedRequest, decideRate, documentedLimits } from '../../src/mock/rate-limit.ts';
import { nameInCommands } from '../../src/options/spelling.ts';
import type { RawReply, Transport } from '../../src/transport/transport.ts';
import { cli } from '../cli/harness.ts';
import { fakeClock } from '../fake-clock.ts';
import { json, serve } from '../transport/serve.ts';

const minute = 60_000;

describe('the pace of a client', () => {
  const wanted = fc.array(
    fc.record({ kind: fc.constantFrom('GET', 'POST', 'PUT'), gap: fc.oneof(fc.nat(20), fc.nat(5_000)) }),
    { maxLength: 400 },
  );

  test('sends no more than the ceilings in any minute, and waits only if it must', () => {
    fc.assert(
      fc.property(wanted, (requests) => {
        const pace = new Pace();
        const log: { at: number; kind: string }[] = [];
        const within = (kind: string | null, at: number) =>
          log.filter((one) => at - one.at < minute && (kind === null || one.kind === kind)).length;
        const full = (kind: string, at: number) =>
          within(null, at) >= ceilings.all ||
          (kind === 'GET' && within(kind, at) >= ceilings.reads) ||
          (kind === 'POST' && within(kind, at) >= ceilings.creates);
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
      { numRuns: 100 },
    );
  });
});

/** Simulates a service with the documented limits and pages of one item; counts responses and refusals. */
function service(clock: ReturnType<typeof fakeClock>, pages: number) {
  let log: readonly CountedRequest[] = [];
  const seen = { responses: 0, refused: 0 };
  const transport: Transport = {
    async send(request): Promise<RawReply> {
      clock.advance(20);
      const decision = decideRate(log, 'read', clock.monotonic(), documentedLimits);
      log = decision.log;
      seen.responses += 1;
      if (!decision.allowed) {
        seen.refused += 1;
        return { status: 429, headers: {}, text: '{"error":"Rate limit exceeded"}' };
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
      return { status: 200, headers: { 'content-type': 'application/json' }, text };
    },
    close: async () => {},
  };
  return { transport, seen };
}

async function listAll(options: Partial<CallerOptions>, pages: number) {
  const clock = fakeClock();
  const { transport, seen } = service(clock, pages);
  const apiUrl = 'https://service.example.com';
  const caller = createCaller(
    { apiUrl, token: 'token-1', clock, random: () => 0.5, transport, ...options },
    nameInCommands,
  );
  onTestFinished(() => caller.close());
  const endpoint = { ...api['observations.list'], response: z.unknown() };
  let items = 0;
  const input = { params: { projectId: 'p1' } };
  const read = readPages(caller, 'observations.list', endpoint, input);
  for await (const page of read) items += page.items.length;
  return { items, ...seen, minutes: clock.monotonic() / minute };
}

describe('a list of 200 pages', () => {
  test('is read without a 429 from a service with the documented limits', async () => {
    const { items, refused, minutes } = await listAll({}, 200);
    expect({ items, refused }).toEqual({ items: 200, refused: 0 });
    expect(minutes).toBeLessThan(3.5);
  });

  test('is read without waiting from a service on this machine', async () => {
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
