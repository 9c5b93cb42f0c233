import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Result, type Stage, stage, trigger } from '../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const says = (text: string) => on.mock.faults.add({ kind: 'reply', text, times: Number.POSITIVE_INFINITY });
const error = ({ err }: Result) => JSON.parse(err.trim().split('\n').at(-1) ?? '').error;
const size = (text: string) => Buffer.byteLength(text);

describe('a response that is refused', () => {
  it.each([
    ['an order', ['orders', 'get', 'o1'], '{"id": 9007199254740993}'],
    ['orders summary', ['orders', 'summary'], '{"orderCount":1.50}'],
    ['env list', ['env', 'list'], '7.0'],
    ['env list --all', ['env', 'list', '--all'], '{"items":"none"}'],
    ['orders get', ['orders', 'get', 'o1'], 'not JSON'],
    ['a number that is no JSON', ['orders', 'summary', '--verify'], '{"totalRevenue":1,"totalRevenue":2}'],
    ['no run id', trigger, '{"made":"something"}'],
  ])('is in error.body with --json: %s', async (_name, argv, text) => {
    says(text);
    const result = await on.rungate(...argv, '--json');
    expect(result).toMatchObject({ code: 5, out: '' });
    expect(error(result)).toMatchObject({ code: 'contract', body: text });
  });

  it.each([
    ['JSON', { error: 'no', more: [1] }, '{"error":"no","more":[1]}'],
    ['text', 'plain', 'plain'],
    ['nothing', '', ''],
  ])('is there for an HTTP error with %s, too', async (_name, body, text) => {
    on.mock.faults.add({ kind: 'status', status: 422, body });
    expect(error(await on.rungate('env', 'list', '--json'))).toMatchObject({ status: 422, body: text });
  });

  it('is null where nothing came', async () => {
    expect(error(await on.rungate('env', 'list', '--page', '0', '--json'))).toMatchObject({ body: null });
  });

  it('is shown below the error with --verbose, in harmless lines', async () => {
    says('{"orders":\n"\u001b[31m ##vso[x]"}');
    const { code, err } = await on.rungate('orders', 'list', '-v');
    expect(code).toBe(5);
    expect(err).toContain('\n  the response:\n  {"orders":\n  "\\u001b[31m # #vso[x]"}\n');
    expect((await on.rungate('orders', 'list')).err).not.toContain('the response:');
  });

  it('is in the error of its run with run wait --json, and shown with --verbose', async () => {
    const text = '{"state":"completed","failed":"none"}';
    says(text);
    const json = await on.rungate('run', 'wait', 'r-1', '--json');
    expect(json.code).toBe(5);
    expect(JSON.parse(json.out).runs[0].error.body).toBe(text);
    const { err } = await on.rungate('run', 'wait', 'r-1', '--verbose');
    expect(err).toContain(`  the response:\n  ${text}\n`);
  });

  it.each([0, 1, 2])('is cut to 64 KiB of whole characters (%i more bytes)', async (more) => {
    says(`{"orders":"${'x'.repeat(more)}${'€'.repeat(30_000)}"}`);
    const { body } = error(await on.rungate('orders', 'list', '--json'));
    expect(size(body)).toBeLessThanOrEqual(64 * 1024);
    expect(size(body)).toBeGreaterThan(64 * 1024 - 4);
    expect(body).toMatch(/€…$/);
  });

  it('is there with its beginning where it was too large to be read', async () => {
    says(`{"state":"${'x'.repeat(1024 * 1024)}"}`);
    const { out } = await on.rungate('run', 'wait', 'r-1', '--max-attempts', '1', '--json');
    const { message, body } = JSON.parse(out).runs[0].error;
    expect(message).toContain('too large');
    expect(body).toMatch(/^\{"state":"x+…$/);
  });
});

describe('the hint', () => {
  const hint = async (...argv: string[]): Promise<string> => error(await on.rungate(...argv, '--json')).hint;

  it('names a command that prints the same response unchecked', async () => {
    says('{"orders":7}');
    const text = await hint('orders', 'list');
    expect(text).toMatch(/ rungate api GET \/api\/orders\.json$/);
    const { code, out } = await on.rungate('api', 'GET', '/api/orders.json');
    expect({ code, out }).toEqual({ code: 0, out: '{\n  "orders": 7\n}\n' });
  });

  it('has the query, and a path below the base URL', async () => {
    says('7');
    const prefixed = on.with({ env: { RUNGATE_API_URL: `${on.mock.url}/base` } });
    const result = await prefixed('env', 'list', '--page', '2', '--json');
    expect(error(result).hint).toMatch(/ rungate api GET "\/api\/environments\?page=2"$/);
  });

  it('of a gate names one that shows the status', async () => {
    says('{"state":"completed"}');
    const { err } = await on.rungate('run', 'wait', 'r-1');
    expect(err).toContain('see the response of the service: rungate api GET /api/ci/runs/r-1');
    expect((await on.rungate('api', 'GET', '/api/ci/runs/r-1')).out).toBe('{\n  "state": "completed"\n}\n');
  });

  it('does not lead to sending again what the service has accepted', async () => {
    says('{"id":"k"}');
    expect(await hint('keys', 'create', '--name', 'n')).not.toContain('rungate api');
  });
});

describe('no secret is in a body', () => {
  it('that we know, however it is cut', async () => {
    for (const before of ['', 'x'.repeat(64 * 1024 - 40), 'x'.repeat(128 * 1024 - 20)]) {
      on.mock.faults.clear();
      says(`{"orders":"${before}${on.mock.token}"}`);
      const { err } = await on.rungate('orders', 'list', '--json');
      expect(err).not.toContain(on.mock.token.slice(0, 8));
    }
  });

  it('that is named like one, at any depth and where the JSON breaks off', async () => {
    const hidden = [
      '"s3cret-1"',
      '{"a":"s3cret-2"}',
      '["s3cret-3", {"b": "s3cret-4"}]',
      '7777777',
      '"s3cret-5',
    ];
    for (const value of hidden) {
      on.mock.faults.clear();
      says(`{"orders":{"webhook_secret" : ${value}`);
      const { body } = error(await on.rungate('orders', 'list', '--json'));
      expect(body).toBe('{"orders":{"webhook_secret" : "***"');
    }
  });

  it('but null and booleans stay, which may be what is wrong', async () => {
    says('{"order":[{"token":null,"secret":true,"apiKey":"a","id":1}]}');
    const { body } = error(await on.rungate('orders', 'get', 'o1', '--json'));
    expect(body).toBe('{"order":[{"token":null,"secret":true,"apiKey":"***","id":1}]}');
  });

  it('of a key that was just created, whatever its field is called', async () => {
    says('{"id": 12, "key": "rg_live_0123456789", "all": ["rg_live_0123456789"]}');
    const { err } = await on.rungate('keys', 'create', '--name', 'n', '--json', '--verbose');
    expect(err).not.toContain('rg_live');
    expect(err).toContain('{\\"id\\": 12, \\"key\\": \\"***\\", \\"all\\": [\\"***\\"]}');
    on.mock.faults.clear();
    says('rg_live_0123456789');
    const text = await on.rungate('keys', 'create', '--name', 'n', '--json');
    expect(text.err).not.toContain('rg_live');
    expect(error(text)).toMatchObject({ code: 'contract', body: null });
  });

  it.each([
    ['a string alone', 201, '"rg_live_0123456789"'],
    ['a value without quotes', 201, '{apiKey: rg_live_0123456789}'],
    ['a value in other quotes', 201, "{'apiKey': 'rg_live_0123456789'}"],
    [
      'a name of the wrong type',
      201,
      '{"apiKey":"","name":["rg_live_0123456789"],"rest":"rg_live_0123456789"}',
    ],
    ['the text of a failure', 500, '{"error":"saved rg_live_0123456789","details":"rg_live_0123456789"}'],
    ['a page of a failure', 502, '<title>rg_live_0123456789</title>'],
  ])('of a key that may have been created: %s', async (_what, status, body) => {
    for (const format of [['--json'], ['--verbose'], []]) {
      on.mock.faults.clear();
      if (status === 201) says(body);
      else on.mock.faults.add({ kind: 'status', status, body, endpoint: 'keys.create' });
      const { code, out, err } = await on.rungate('keys', 'create', '--name', 'n', ...format);
      expect(code).toBe(5);
      expect(out + err).not.toContain('rg_live');
    }
  });

  it('but what the service says of a request that it refused is shown', async () => {
    on.mock.faults.add({
      kind: 'status',
      status: 422,
      body: { error: 'no such scope' },
      endpoint: 'keys.create',
    });
    expect((await on.rungate('keys', 'create', '--name', 'n')).err).toContain('no such scope');
  });
});

describe('a request that must not be repeated', () => {
  const hint = /the service may have acted on the request: check that before you send it again/;

  it.each([
    ['a failure of the service', { kind: 'status', status: 503, body: '' }],
    ['a connection that breaks', { kind: 'reset' }],
  ] as const)('may have been done after %s, and is sent once', async (_what, fault) => {
    on.mock.faults.add({ ...fault, endpoint: 'env.create' });
    const { code, err } = await on.rungate('env', 'create', '--name', 'a', '--key', 'b');
    expect(code).not.toBe(0);
    expect(err.replace(/\s+/g, ' ')).toMatch(hint);
    expect(on.mock.requests).toHaveLength(1);
  });
});

describe('details of an error', () => {
  it.each([
    ['an object', '{"field":"tags","at":[1,{"b":null}]}'],
    ['an array', '["one","two"]'],
    ['a number', '42'],
    ['false', 'false'],
  ])('may be %s: it is in the JSON as it is, and in the message', async (_name, json) => {
    const body = { error: 'no', details: JSON.parse(json) };
    on.mock.faults.add({ kind: 'status', status: 422, body, times: 2 });
    expect(error(await on.rungate('env', 'list', '--json')).details).toEqual(JSON.parse(json));
    expect((await on.rungate('env', 'list')).err).toContain(`: no: ${json}`);
  });

  it('keep their digits in the message and in the body', async () => {
    const text = '{"error":"no","details":{"id":9007199254740993,"limit":10.50}}';
    on.mock.faults.add({ kind: 'status', status: 422, body: text });
    const { message, body } = error(await on.rungate('env', 'list', '--json'));
    expect(message).toContain('{"id":9007199254740993,"limit":10.50}');
    expect(body).toBe(text);
  });

  it('have no secret, also where that leaves them no JSON', async () => {
    const { token } = on.mock;
    const env = { RUNGATE_WEBHOOK_SECRET: '123456789' };
    on.mock.faults.add({
      kind: 'status',
      status: 422,
      body: { error: 'no', details: { token, pin: 123456789 } },
    });
    const { err } = await on.with({ env })('env', 'list', '--json');
    expect(err).not.toContain(token);
    expect(err).not.toContain('123456789');
  });

  it('that nest too deep are not read', async () => {
    const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
    on.mock.faults.add({ kind: 'status', status: 422, body: `{"error":"no","details":${deep}}` });
    const result = await on.rungate('env', 'list', '--json');
    expect(error(result)).toMatchObject({ status: 422, details: null });
  });
});
