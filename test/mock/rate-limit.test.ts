import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type CountedRequest, decideRate, type RequestKind, windowMs } from '../../src/mock/rate-limit.ts';

const request = fc.record({
  kind: fc.constantFrom<RequestKind>('read', 'create', 'other'),
  after: fc.nat({ max: 9000 }),
});
const small = { all: 9, read: 5, create: 2 };

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
});
