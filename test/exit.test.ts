import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  ConfigError,
  CredentialError,
  DeclinedError,
  HttpError,
  NetworkError,
  type NetworkFault,
  StoppedError,
  UnexpectedResponseError,
  UsageError,
} from '../src/errors.ts';
import { exitCodeOf, exitCodes, mostSevere } from '../src/exit.ts';

test('the exit codes have not changed', () => {
  expect(exitCodes).toEqual({
    ok: 0,
    failed: 1,
    blocked: 2,
    timeout: 3,
    cancelled: 4,
    service: 5,
    credentials: 6,
    unreachable: 7,
    mismatch: 8,
    usage: 64,
    waiting: 75,
    bug: 70,
    config: 78,
    SIGHUP: 129,
    SIGINT: 130,
    SIGTERM: 143,
  });
});

describe('exitCodeOf', () => {
  const http = (status: number) => new HttpError('no', { status });
  const unexpected = new UnexpectedResponseError('no', {
    field: 'state',
    expected: 'a state',
    received: 'nothing',
  });
  const faults: NetworkFault[] = ['dns', 'refused', 'tls', 'connect', 'broken', 'deadline'];

  test.each<[string, unknown, number]>([
    ['a usage error', new UsageError('no'), 64],
    ['a configuration error', new ConfigError('no'), 78],
    ['a missing credential', new CredentialError('no'), 6],
    ['a 401', http(401), 6],
    ['a 403', http(403), 6],
    ['an unexpected response', unexpected, 5],
    ...[302, 400, 404, 407, 409, 422, 429, 500, 503].map((s): [string, unknown, number] => [
      `a ${s}`,
      http(s),
      5,
    ]),
    ...faults.map((f): [string, unknown, number] => [`the network fault ${f}`, new NetworkError(f, 'no'), 7]),
    ['a declined prompt', new DeclinedError('no'), 1],
    ['SIGHUP', new StoppedError('SIGHUP'), 129],
    ['SIGINT', new StoppedError('SIGINT'), 130],
    ['SIGTERM', new StoppedError('SIGTERM'), 143],
    ['any other error', new TypeError('x is not a function'), 70],
    ['a thrown undefined', undefined, 70],
  ])('maps %s to an exit code: %#', (_name, error, code) => expect(exitCodeOf(error)).toBe(code));

  test('never returns 0 or the code of a verdict', () => {
    fc.assert(
      fc.property(fc.anything(), (error) => {
        expect([5, 6, 7, 64, 70, 78, 129, 130, 143]).toContain(exitCodeOf(error));
      }),
    );
  });
});

describe('mostSevere', () => {
  const order = [6, 5, 7, 1, 8, 2, 4, 3];

  test.each(order.map((code, rank) => [code, order.slice(rank + 1)] as const))(
    'prefers %i to %j',
    (code, weaker) => {
      for (const other of weaker) {
        expect(mostSevere([code, other])).toBe(code);
        expect(mostSevere([other, 0, code])).toBe(code);
      }
    },
  );

  test('treats a code without a rank as the most severe', () => expect(mostSevere([6, 70, 1])).toBe(70));

  test('does not depend on the order and returns 0 only if all are 0', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, ...order)), (codes) => {
        const code = mostSevere(codes);
        expect(mostSevere(codes.toReversed())).toBe(code);
        expect(code).toBe(order.find((severe) => codes.includes(severe)) ?? 0);
      }),
    );
  });
});
