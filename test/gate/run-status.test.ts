import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Exchange } from '../../src/client/caller.ts';
import { readResponse } from '../../src/gate/run-status.ts';
import { redactNothing } from '../../src/redact.ts';
import { appUrlOf, readStatus } from '../without-redaction.ts';

const url = 'https://app.example/runs/1';

describe('a status response', () => {
  test('of an ended run has its counts', () => {
    expect(readStatus({ state: 'completed', failed: 2, blocked: 0, appUrl: url })).toEqual({
      kind: 'ended',
      state: 'completed',
      failed: 2,
      blocked: 0,
      appUrl: url,
    });
  });

  test('of a run in progress needs no counts', () => {
    expect(readStatus({ state: 'in_progress' })).toEqual({
      kind: 'running',
      known: true,
      state: 'in_progress',
      failed: null,
      blocked: null,
      appUrl: null,
      retryAfterSeconds: null,
    });
  });

  test.each(['queued', 'COMPLETED', 'canceled', 'completed ', 'toString'])(
    'with the unknown state %j is not terminal, even with counts of 0',
    (state) => {
      expect(readStatus({ state, failed: 0, blocked: 0 })).toMatchObject({
        kind: 'running',
        known: false,
        state,
      });
    },
  );

  test.each([[undefined], [null], [''], [7], [true]])(
    'whose appUrl is %j is valid, with null for the address',
    (appUrl) => {
      expect(readStatus({ state: 'completed', failed: 0, blocked: 0, appUrl })).toMatchObject({
        kind: 'ended',
        appUrl: null,
      });
    },
  );
});

describe('a terminal state with an invalid count is broken, and the count is never 0', () => {
  const notCounts = [undefined, null, '0', false, -1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, [0], {}];
  const rows = ['completed', 'cancelled'].flatMap((state) =>
    ['failed', 'blocked'].flatMap((field) => notCounts.map((value) => [state, field, value] as const)),
  );

  test.each(rows)('%s with %s: %j', (state, field, value) => {
    const reading = readStatus({ state, failed: 0, blocked: 0, appUrl: url, [field]: value });
    expect(reading).toMatchObject({ kind: 'broken', ended: true, state, appUrl: url, violation: { field } });
  });

  test('even if the other count would fail the run', () => {
    expect(readStatus({ state: 'completed', failed: 3 })).toMatchObject({
      kind: 'broken',
      failed: 3,
      violation: { field: 'blocked', received: 'nothing' },
    });
  });
});

describe('a response without a state is broken, and the run may still be going', () => {
  test.each<[unknown, string]>([
    [{}, 'nothing'],
    [{ state: null }, 'null'],
    [{ state: '' }, 'the string ""'],
    [{ state: ['completed'] }, 'an array'],
    [{ status: 'completed', failed: 0, blocked: 0 }, 'nothing'],
    [null, 'null'],
    ['completed', 'the string "completed"'],
    [undefined, 'nothing'],
    [[{ state: 'completed', failed: 0, blocked: 0 }], 'an array'],
  ])('%j', (json, received) => {
    expect(readStatus(json)).toMatchObject({
      kind: 'broken',
      ended: false,
      violation: { field: 'state', received },
    });
  });

  test('with an inherited state', () => {
    expect(
      readStatus(JSON.parse('{"__proto__": {"state": "completed", "failed": 0, "blocked": 0}}')).kind,
    ).toBe('broken');
  });
});

describe('retryAfterSeconds', () => {
  test.each<[unknown, number | null]>([
    [10, 10],
    [0.25, 0.25],
    [0, null],
    [-5, null],
    [Number.POSITIVE_INFINITY, null],
    ['10', null],
    [null, null],
    [undefined, null],
  ])('of %j is read as %j', (retryAfterSeconds, seconds) => {
    expect(readStatus({ state: 'in_progress', retryAfterSeconds })).toMatchObject({
      retryAfterSeconds: seconds,
    });
  });
});

describe('the shown parts of a response', () => {
  test.each([
    [2000, true],
    [2001, false],
  ])('include an appUrl of %i characters: %j', (length, isShown) => {
    const appUrl = 'x'.repeat(length);
    expect(readStatus({ state: 'in_progress', appUrl }).kind).toBe('running');
    expect(readStatus({ state: 'in_progress', appUrl })).toMatchObject({ appUrl: isShown ? appUrl : null });
  });

  test('include that the content is partial, so the run may not have ended', () => {
    const text = '{"state":"completed","failed":0,"blocked":0}';
    const response = { status: 206, text, value: JSON.parse(text), redact: redactNothing } as Exchange;
    expect(readResponse(response, 'run_1')).toMatchObject({ kind: 'broken', ended: false, state: null });
  });

  const readText = (text: string) =>
    readResponse({ status: 200, text, value: JSON.parse(text), redact: redactNothing } as Exchange, 'run_1');

  test.each([
    ['"id":"run_2"', 'broken'],
    ['"id":"status_run_1"', 'running'],
    ['"id":"runner"', 'running'],
  ])('name another run in %s: %s', (member, kind) => {
    expect(readText(`{"state":"in_progress",${member}}`).kind).toBe(kind);
  });

  test.each([
    [{ appUrl: 'a', run: { appUrl: 'b' }, data: { appUrl: 'c' } }, 'a'],
    [{ run: { appUrl: 'b' }, data: { appUrl: 'c' } }, 'b'],
    [{ data: { appUrl: 'c' } }, 'c'],
    [{ url: 'd' }, null],
  ])('include from the create response %j the appUrl %j', (response, appUrl) => {
    expect(appUrlOf(response)).toBe(appUrl);
  });
});

describe('for any JSON', () => {
  const isCount = (value: unknown) => Number.isInteger(value) && Number(value) >= 0;
  const loose = fc.oneof(
    fc.integer({ min: -2, max: 3 }),
    fc.double(),
    fc.jsonValue(),
    fc.constant(undefined),
  );
  const shaped = fc.record(
    {
      state: fc.oneof(fc.constantFrom('in_progress', 'completed', 'cancelled', 'queued', ''), fc.jsonValue()),
      failed: loose,
      blocked: loose,
      appUrl: loose,
      retryAfterSeconds: loose,
    },
    { requiredKeys: [] },
  );

  test('reading does not throw, and the run has only ended with a terminal state and two counts', () => {
    fc.assert(
      fc.property(fc.oneof(shaped, fc.jsonValue()), (json) => {
        const reading = readStatus(json);
        const body = (typeof json === 'object' && json !== null ? json : {}) as Record<string, unknown>;
        const terminal = body.state === 'completed' || body.state === 'cancelled';
        const ended = !Array.isArray(json) && terminal && isCount(body.failed) && isCount(body.blocked);
        expect(reading.kind === 'ended').toBe(ended);
      }),
      { numRuns: 2000 },
    );
  });
});
