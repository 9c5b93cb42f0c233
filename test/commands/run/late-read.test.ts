import { afterEach, describe, expect, it } from 'vitest';
import type { MockOptions } from '../../../src/mock/server.ts';
import { type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage | undefined;
afterEach(() => on?.close());

const onInterval =
  / later, after the deadline: increase --timeout, or read more often with a shorter --interval, unless/;

describe('a timeout reports why the wait ended before the deadline, and what to do:', () => {
  it.each<[string, readonly string[], MockOptions, RegExp, boolean]>([
    ['a long interval', ['--interval', '40s'], {}, onInterval, true],
    [
      'the service asks for long waits',
      [],
      { retryAfterSeconds: 40 },
      /the service requests these intervals \(retryAfterSeconds\)/,
      true,
    ],
    ['the shortest interval', [], {}, / later, after the deadline: increase --timeout; --cancel/, true],
    [
      'the number of reads',
      ['--max-attempts', '2'],
      {},
      /→ the limit of 2 status reads was reached: increase --max-attempts, or set --timeout without it; --cancel/,
      false,
    ],
  ])('%s', async (_what, flags, options, hint, isLate) => {
    on = await stage({ outcome: 'stuck', ...options });
    const wait = [...trigger, '--wait', '--timeout', '1m', ...flags];
    const { code, err } = await on.rungate(...wait);
    expect(code).toBe(3);
    expect(err).toMatch(hint);
    const { out } = await on.rungate(...wait, '--json');
    expect('nextReadSeconds' in JSON.parse(out).runs[0]).toBe(isLate);
  });
});
