import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Result, type Stage, stage, trigger } from '../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const respondWith = (text: string) =>
  on.mock.faults.add({ kind: 'reply', text, times: Number.POSITIVE_INFINITY });
const error = ({ err }: Result) => JSON.parse(err.trim().split('\n').at(-1) ?? '').error;
const size = (text: string) => Buffer.byteLength(text);

describe('a refused response', () => {
  it.each([
    ['orders summary', ['orders', 'summary'], '{"orderCount":1.50}'],
    ['env list', ['env', 'list'], '7.0'],
    ['a duplicate field', ['orders', 'summary', '--verify'], '{"totalRevenue":1,"totalRevenue":2}'],
    ['no run id', trigger, '{"made":"something"}'],
  ])('is in error.body with --json: %s', async (_name, argv, text) => {
    respondWith(text);
    const result = await on.rungate(...argv, '--json');
    expect(result).toMatchObject({ code: 5, out: '' });
    expect(error(result)).toMatchObject({ code: 'unexpected_response', body: text });
  });

  it.each([
    ['JSON', { error: 'no', more: [1] }, '{"error":"no","more":[1]}'],
    ['nothing', '', ''],
  ])('is in error.body for an HTTP error with a body of %s, too', async (_name, body, text) => {
    on.mock.faults.add({ kind: 'status', status: 422, body });
    expect(error(await on.rungate('env', 'list', '--json'))).toMatchObject({ status: 422, body: text });
  });

  it('is printed below the error with --verbose, with control characters and CI commands escaped', async () => {
    respondWith('{"orders":\n"\u001b[31m ##vso[x]"}');
    const { code, err } = await on.rungate('orders', 'list', '-v');
    expect(code).toBe(5);
    expect(err).toContain('\n  the response:\n  {"orders":\n  "\\u001b[31m # #vso[x]"}\n');
    expect((await on.rungate('orders', 'list')).err).not.toContain('the response:');
  });

  it.each([0, 1, 2])('is cut at 64 KiB without splitting a character (%i extra bytes)', async (extra) => {
    respondWith(`{"orders":"${'x'.repeat(extra)}${'€'.repeat(30_000)}"}`);
    const { body } = error(await on.rungate('orders', 'list', '--json'));
    expect(size(body)).toBeLessThanOrEqual(64 * 1024);
    expect(size(body)).toBeGreaterThan(64 * 1024 - 4);
    expect(body).toMatch(/€…$/);
  });
});

describe('the hint for a refused response', () => {
  const hint = async (...argv: string[]): Promise<string> => error(await on.rungate(...argv, '--json')).hint;

  it('names a command that prints the same response unchecked', async () => {
    respondWith('{"orders":7}');
    const text = await hint('orders', 'list');
    expect(text).toMatch(/ rungate api GET \/api\/orders\.json$/);
    const { code, out } = await on.rungate('api', 'GET', '/api/orders.json');
    expect({ code, out }).toEqual({ code: 0, out: '{\n  "orders": 7\n}\n' });
  });

  it('does not suggest repeating a request whose record the service has created', async () => {
    respondWith('{"id":"k"}');
    expect(await hint('keys', 'create', '--name', 'n')).not.toContain('rungate api');
  });
});

describe('a secret in an error body', () => {
  it('is redacted if it is a setting, wherever the body is cut', async () => {
    for (const before of ['', 'x'.repeat(64 * 1024 - 40), 'x'.repeat(128 * 1024 - 20)]) {
      on.mock.faults.clear();
      respondWith(`{"orders":"${before}${on.mock.token}"}`);
      const { err } = await on.rungate('orders', 'list', '--json');
      expect(err).not.toContain(on.mock.token.slice(0, 8));
    }
  });

  it('is redacted if its field has a secret name, at any depth and in truncated JSON', async () => {
    const values = [
      '"s3cret-1"',
      '{"a":"s3cret-2"}',
      '["s3cret-3", {"b": "s3cret-4"}]',
      '7777777',
      '"s3cret-5',
    ];
    for (const value of values) {
      on.mock.faults.clear();
      respondWith(`{"orders":{"webhook_secret" : ${value}`);
      const { body } = error(await on.rungate('orders', 'list', '--json'));
      expect(body).toBe('{"orders":{"webhook_secret" : "***"');
    }
  });

  it('is redacted if it is a new API key, whatever the name of its field', async () => {
    respondWith('{"id": 12, "key": "rg_live_0123456789", "all": ["rg_live_0123456789"]}');
    const { err } = await on.rungate('keys', 'create', '--name', 'n', '--json', '--verbose');
    expect(err).not.toContain('rg_live');
    expect(err).toContain('{\\"id\\": 12, \\"key\\": \\"***\\", \\"all\\": [\\"***\\"]}');
    on.mock.faults.clear();
    respondWith('rg_live_0123456789');
    const text = await on.rungate('keys', 'create', '--name', 'n', '--json');
    expect(text.err).not.toContain('rg_live');
    expect(error(text)).toMatchObject({ code: 'unexpected_response', body: null });
  });

  it.each([
    ['a bare string', 201, '"rg_live_0123456789"'],
    ['a value without quotes', 201, '{apiKey: rg_live_0123456789}'],
    [
      'a name of the wrong type',
      201,
      '{"apiKey":"","name":["rg_live_0123456789"],"rest":"rg_live_0123456789"}',
    ],
    ['the message of a failure', 500, '{"error":"saved rg_live_0123456789","details":"rg_live_0123456789"}'],
    ['the HTML page of a failure', 502, '<title>rg_live_0123456789</title>'],
  ])('is redacted if it is a key that may have been created: %s', async (_what, status, body) => {
    for (const format of [['--json'], ['--verbose'], []]) {
      on.mock.faults.clear();
      if (status === 201) respondWith(body);
      else on.mock.faults.add({ kind: 'status', status, body, endpoint: 'keys.create' });
      const { code, out, err } = await on.rungate('keys', 'create', '--name', 'n', ...format);
      expect(code).toBe(5);
      expect(out + err).not.toContain('rg_live');
    }
  });
});

describe('a request that must not be repeated', () => {
  const hint = /the service may have acted on the request: check that before you send it again/;

  it.each([['a broken connection', { kind: 'reset' }]] as const)(
    'is sent once, with a warning that it may have taken effect, after %s',
    async (_what, fault) => {
      on.mock.faults.add({ ...fault, endpoint: 'env.create' });
      const { code, err } = await on.rungate('env', 'create', '--name', 'a', '--key', 'b');
      expect(code).not.toBe(0);
      expect(err.replace(/\s+/g, ' ')).toMatch(hint);
      expect(on.mock.requests).toHaveLength(1);
    },
  );
});

describe('details of an error', () => {
  it.each([
    ['an object', '{"field":"tags","at":[1,{"b":null}]}'],
    ['a number', '42'],
  ])('can be %s, unchanged in the JSON and in the message', async (_name, json) => {
    const body = { error: 'no', details: JSON.parse(json) };
    on.mock.faults.add({ kind: 'status', status: 422, body, times: 2 });
    expect(error(await on.rungate('env', 'list', '--json')).details).toEqual(JSON.parse(json));
    expect((await on.rungate('env', 'list')).err).toContain(`: no: ${json}`);
  });

  it('are null if they nest too deeply', async () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    on.mock.faults.add({ kind: 'status', status: 422, body: `{"error":"no","details":${deep}}` });
    const result = await on.rungate('env', 'list', '--json');
    expect(error(result)).toMatchObject({ status: 422, details: null });
  });
});
