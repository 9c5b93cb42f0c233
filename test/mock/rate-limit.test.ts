import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CountedRequest,
  decideRate,
  documentedLimits,
  type RateLimits,
  type RequestKind,
  windowMs,
} from '../../src/mock/rate-limit.ts';

const requests = (kind: RequestKind, count: number, at = 0): CountedRequest[] =>
  Array.from({ length: count }, () => ({ kind, at }));

describe('one request', () => {
  it.each([
    ['the 61st read', requests('read', 60), 'read', 10, { allowed: false, name: 'read', resetMs: 59_990 }],
    [
      'the 101st',
      [...requests('read', 60), ...requests('other', 40)],
      'create',
      0,
      { allowed: false, name: 'all' },
    ],
    [
      'a request beyond two limits, of which it reports the longer wait',
      [...requests('other', 80, 0), ...requests('create', 20, 30_000)],
      'create',
      40_000,
      { allowed: false, name: 'create', resetMs: 50_000 },
    ],
    [
      'a request closer to the limit for all',
      requests('other', 95),
      'read',
      0,
      { allowed: true, name: 'all', limit: 100, remaining: 4 },
    ],
  ] as const)('is decided: %s', (_case, log, kind, now, expected) => {
    expect(decideRate(log, kind, now)).toMatchObject(expected);
  });

  it('is not counted when it is refused', () => {
    const log = requests('read', 60);
    expect(decideRate(log, 'read', 10).log).toEqual(log);
  });
});

const request = fc.record({
  kind: fc.constantFrom<RequestKind>('read', 'create', 'other'),
  after: fc.nat({ max: 9000 }),
});
const small: RateLimits = { all: 9, read: 5, create: 2 };

describe('any sequence of requests', () => {
  it('gets exactly as many requests through in a minute as the limits allow', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
        let now = 0;
        let log: readonly CountedRequest[] = [];
        const through: CountedRequest[] = [];
        for (const { kind, after } of requests) {
          now += after;
          const minute = through.filter(({ at }) => at > now - windowMs);
          const room = minute.length < small.all;
          const ofKind = minute.filter((one) => one.kind === kind).length;
          const decision = decideRate(log, kind, now, small);
          expect(decision.allowed).toBe(room && (kind === 'other' || ofKind < small[kind]));
          if (decision.allowed) through.push({ at: now, kind });
          log = decision.log;
        }
      }),
    );
  });

  it('succeeds after the reported wait, and not a millisecond earlier', () => {
    fc.assert(
      fc.property(fc.array(request, { maxLength: 60 }), (requests) => {
        let now = 0;
        let log: readonly CountedRequest[] = [];
        for (const { kind, after } of requests) {
          now += after;
          const decision = decideRate(log, kind, now, small);
          log = decision.log;
          if (decision.allowed) continue;
          expect(decideRate(log, kind, now + decision.resetMs, small).allowed).toBe(true);
          expect(decideRate(log, kind, now + decision.resetMs - 1, small).allowed).toBe(false);
        }
      }),
    );
  });

  it('is not stored longer than needed', () => {
    let log: readonly CountedRequest[] = [];
    for (let now = 0; now < 1_000_000; now += 100) log = decideRate(log, 'other', now).log;
    expect(log.length).toBeLessThanOrEqual(documentedLimits.all);
  });
});
