import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { UnexpectedResponseError, UsageError } from '../../src/errors.ts';
import { parsePointer } from '../../src/gate/run-id.ts';
import { runIdIn, runIdOf } from '../without-redaction.ts';

describe('the run id is the first of', () => {
  const everywhere = {
    runId: 'a',
    id: 'b',
    run: { runId: 'c', id: 'd' },
    data: { runId: 'e', id: 'f' },
  };
  const { runId: _a, ...withoutRunId } = everywhere;
  const { id: _b, ...withoutId } = withoutRunId;
  const location = '/api/ci/runs/g';

  test.each<[string, unknown, string]>([
    ['runId', everywhere, 'a'],
    ['id', withoutRunId, 'b'],
    ['run.runId', withoutId, 'c'],
    ['run.id', { ...withoutId, run: { id: 'd' } }, 'd'],
    ['data.runId', { data: everywhere.data }, 'e'],
    ['data.id', { data: { id: 'f' } }, 'f'],
    ['the segment after runs in Location', {}, 'g'],
  ])('%s', (_place, response, id) => expect(runIdOf(response, location)).toBe(id));

  test.each([[''], [null], [{}], [1.5], [true], [['x']]])(
    'is not a runId of %j, but the id in the next place',
    (runId) => {
      expect(runIdOf({ runId, id: 'b' }, undefined)).toBe('b');
    },
  );

  test('a whole number is an id with all its digits', () => {
    expect(runIdOf({ id: 42 }, undefined)).toBe('42');
    expect(runIdIn('{"id": 9007199254740993 }')).toBe('9007199254740993');
    expect(runIdIn('{"data":{"id":-9007199254740993}}')).toBe('-9007199254740993');
    expect(runIdIn('{"a":["x",{"b":123456789012345678901234567890}]}', '/a/1/b')).toBe(
      '123456789012345678901234567890',
    );
  });

  test.each([
    ['1e3', '1000'],
    ['-0', '0'],
  ])('reads %s as the whole number %s', (number, id) => expect(runIdIn(`{"id":${number}}`)).toBe(id));

  test.each(['9007199254740993.5', '1e30', '1e400'])('%s is not accepted as a whole number', (number) => {
    expect(runIdIn(`{"id":${number},"data":{"id":"b"}}`)).toBe('b');
  });

  test.each([
    ['{"id":1,"id":9007199254740993}'],
    ['{"runId":"old","run\\u0049d":"new"}'],
    ['{"run":{"id":"a"},"run":{"id":"b"}}'],
    ['{"data":{"runId":"a","runId":"b"}}'],
  ])('missing in %s, which has two', (json) => {
    expect(() => runIdIn(json)).toThrow(/it has "\w+" twice/);
  });

  test.each(['/runs/a, /runs/b', 'https://x/runs/a/status, https://x/runs/b'])(
    'missing in the Location headers %s, which name two runs',
    (location) => {
      expect(() => runIdOf({}, location)).toThrow(/it has "Location" twice/);
    },
  );

  test('found in two Location headers that name the same run', () => {
    expect(runIdOf({}, '/runs/a, https://x/api/runs/a')).toBe('a');
  });

  test('found in a response that has another name twice', () => {
    expect(runIdIn('{"runId":"r-1","note":1,"note":2}')).toBe('r-1');
  });
});

describe('Location', () => {
  test.each([
    ['/api/ci/runs/r-1/', 'r-1'],
    ['/projects/shop/test-runs/r-1', 'r-1'],
    ['/runs/old/reruns/r-1', 'r-1'],
    ['/api/ci/runs/a%20b', 'a b'],
  ])('%j has the id %j, whatever the body is', (location, id) => {
    expect(runIdOf(null, location)).toBe(id);
    expect(runIdOf('created', location)).toBe(id);
  });

  test.each([
    ...['', '/', '?x=1', '/runs/%E0%A4%A', 'https://ci.example', 'https://ci.example/', '//ci.example'],
    ...['/login', 'login', '/api/ci/runs', '/api/ci/runs/', '/login?next=/api/ci/runs/r-1', '//runs/r-1'],
    ...['/runs/..', '/runs/%2e%2e'],
  ])('%j does not have an id', (location) => {
    expect(() => runIdOf({}, location)).toThrow(
      expect.objectContaining({
        code: 'unexpected_response',
        message: expect.stringContaining('does not say'),
      }),
    );
  });
});

describe('an id that cannot be used', () => {
  const unusable = ['.', '..', 'a/b', 'a\\b', 'a\nb', '\u0000', 'x'.repeat(501), '\ud800'];

  test.each(unusable)(
    '%j leads to an unexpected-response error that quotes it, without reading other places',
    (runId) => {
      expect(() => runIdOf({ runId, id: 'b' }, '/api/ci/runs/r-1')).toThrow(
        expect.objectContaining({
          code: 'unexpected_response',
          field: 'runId',
          message: expect.stringContaining(JSON.stringify(runId).slice(0, 60)),
          hint: expect.stringContaining('/api/ci/runs/r-1'),
        }),
      );
    },
  );

  test.each(['/runs/a%2Fb', '/runs/a%0Ab'])(
    'in Location %j leads to an unexpected-response error too',
    (location) => {
      expect(() => runIdOf({}, location)).toThrow(
        expect.objectContaining({ code: 'unexpected_response', field: 'Location' }),
      );
    },
  );
});

describe('run.idPointer', () => {
  test('takes precedence over every other place', () => {
    expect(runIdOf({ runId: 'a', result: { key: 'mine' } }, '/runs/g', '/result/key')).toBe('mine');
  });

  test.each<[string, string[]]>([
    ['/runId', ['runId']],
    ['/data/0/id', ['data', '0', 'id']],
    ['/a~1b', ['a/b']],
    ['/a~01b', ['a~1b']],
  ])('%j is parsed by RFC 6901', (pointer, path) => expect(parsePointer(pointer)).toEqual(path));

  describe('to a field that repeats the request is refused', () => {
    const request = {
      projectSlug: 'shop',
      tags: ['old', 'smoke'],
      ref: 'old',
      commitSha: '7',
      idempotencyKey: 'branch',
    };
    test.each<[string, unknown]>([
      ['/ref', { ref: 'old', runId: 'new' }],
      ['/request/commitSha', { request: { commitSha: '7' } }],
      ['/tags/0/name', { tags: [{ name: 'old' }] }],
      ['/idempotency_key', { idempotency_key: 'branch' }],
    ])('%s of %j', (pointer, response) => {
      expect(() => runIdOf(response, '/runs/new', pointer, request)).toThrow(
        expect.objectContaining({ code: 'unexpected_response', message: expect.stringContaining(pointer) }),
      );
    });

    test.each<[string, unknown, string]>([
      ['/ref', { ref: 'run_9' }, 'run_9'],
      ['/project', { project: 'shop' }, 'shop'],
    ])('%s of %j is not refused: the name or the value differs', (pointer, response, id) => {
      expect(runIdOf(response, undefined, pointer, request)).toBe(id);
    });
  });

  test.each(['runId', 'data.runId', '$.runId', ''])(
    '%j is not a pointer, which is a usage error',
    (pointer) => {
      expect(() => parsePointer(pointer)).toThrow(UsageError);
    },
  );
});

describe('a response without an id', () => {
  test('leads to an unexpected-response error that lists its keys and has a hint', () => {
    expect(() => runIdOf({ ok: true, key: 'x' }, undefined)).toThrow(
      expect.objectContaining({
        code: 'unexpected_response',
        message: expect.stringContaining('ok, key'),
        hint: expect.stringContaining('run.idPointer'),
      }),
    );
  });

  test('leads to an unexpected-response error for any JSON, unless it has an id that is not empty', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.option(fc.webUrl(), { nil: undefined }), (response, location) => {
        try {
          expect(runIdOf(response, location)).not.toBe('');
        } catch (error) {
          expect(error).toBeInstanceOf(UnexpectedResponseError);
        }
      }),
    );
  });
});
