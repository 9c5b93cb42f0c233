import { afterEach, describe, expect, test } from 'vitest';
import { createClient } from '../src/client/create-client.ts';
import { gate } from '../src/library/gate.ts';
import { startMock } from '../src/library/start-mock.ts';
import { startRun } from '../src/library/start-run.ts';
import type { PreparedRequest } from '../src/transport/transport.ts';
import * as node from '../src/webhook/node.ts';
import { deliveryOf } from '../src/webhook/receivers/express.ts';
import * as fetchReceiver from '../src/webhook/receivers/fetch.ts';
import * as lambda from '../src/webhook/receivers/lambda.ts';
import { createReplayGuard } from '../src/webhook/replay.ts';
import * as web from '../src/webhook/web.ts';

const added: string[] = [];
/** Adds a property to every object, as careless merging of JSON does. */
function pollute(name: string, value: unknown): void {
  Object.defineProperty(Object.prototype, name, { value, configurable: true, writable: true });
  added.push(name);
}
afterEach(() => {
  for (const name of added.splice(0)) Reflect.deleteProperty(Object.prototype, name);
});

const day = 86_400_000;
const body = '{"failed":0}';
const sent = (secret: string, at = Date.now()) => {
  const { timestamp, signature } = node.signSync({ body, secret, timestamp: new Date(at).toISOString() });
  return { 'x-service-timestamp': timestamp, 'x-service-signature': signature };
};

type Headers = ReturnType<typeof sent>;
type Options = { secrets?: string };

/** Every way to verify a delivery. */
const receivers: Readonly<Record<string, (headers: Headers, options: Options) => Promise<unknown>>> = {
  verifySync: async (headers, options) => node.verifySync({ body, headers, ...options }),
  verify: (headers, options) => node.verify({ body, headers, ...options }),
  'verify over WebCrypto': (headers, options) => web.verify({ body, headers, ...options }),
  'the receiver of the Fetch API': (headers, options) =>
    fetchReceiver.receive(new Request('http://x.test/', { method: 'POST', headers, body }), options),
  'the receiver of Lambda': (headers, options) => lambda.receive({ headers, body }, options),
};

/** A property added to every object, and a forged delivery that it would make valid. */
const forgeries: readonly [string, unknown, () => Headers, string][] = [
  ['tenantSecret', 'attacker', () => sent('attacker'), 'mismatch'],
  ['maxAge', null, () => sent('real', Date.now() - day), 'too_old'],
  ['maxFuture', null, () => sent('real', Date.now() + day), 'too_new'],
  ['now', () => new Date(Date.now() - day), () => sent('real', Date.now() - day), 'too_old'],
  ['headerNames', { timestamp: 'X-T', signature: 'X-S' }, () => sent('attacker'), 'mismatch'],
  ['signature', 'X-S', () => sent('attacker'), 'mismatch'],
];

describe.each(Object.entries(receivers))('%s', (_, receive) => {
  test.each(forgeries)('ignores %s in Object.prototype', async (name, value, headers, code) => {
    const given = headers();
    pollute(name, value);
    await expect(receive(given, { secrets: 'real' })).rejects.toMatchObject({ code });
    await expect(receive(sent('real'), { secrets: 'real' })).resolves.toBeDefined();
  });

  test('ignores a secret in Object.prototype', async () => {
    pollute('secrets', 'attacker');
    await expect(receive(sent('attacker'), {})).rejects.toMatchObject({ code: 'no_secret' });
  });
});

test('sign ignores a body and a secret in Object.prototype', () => {
  pollute('body', 'x');
  pollute('secret', 'attacker');
  expect(() => node.signSync({ secret: 'k' } as never)).toThrow(
    expect.objectContaining({ code: 'body_not_raw' }),
  );
  expect(() => node.signSync({ body: 'x' } as never)).toThrow(expect.objectContaining({ code: 'no_secret' }));
  expect(() => node.verifySync({ headers: sent('k'), secrets: 'k' } as never)).toThrow(
    expect.objectContaining({ code: 'body_not_raw' }),
  );
});

test('an unverified request has no delivery, whatever Object.prototype contains', () => {
  pollute('webhook', { verified: {}, json: () => ({ failed: 0 }) });
  expect(() => deliveryOf({})).toThrow(expect.objectContaining({ code: 'bad_option' }));
});

test('a replay guard ignores a store and a prefix in Object.prototype', async () => {
  pollute('store', { setIfAbsent: async () => true, delete: async () => {} });
  const guard = createReplayGuard();
  const headers = sent('real');
  const verified = node.verifySync({ body, headers, secrets: 'real' });
  const proof = headers['x-service-signature'];
  expect([await guard.check(verified, proof), await guard.check(verified, proof)]).toEqual([
    'first',
    'replay',
  ]);
});

describe('a client', () => {
  const seen: PreparedRequest[] = [];
  const transport = {
    async send(request: PreparedRequest) {
      seen.push(request);
      return { status: 200, headers: {}, text: '{"state":"in_progress"}' };
    },
    close: async () => {},
  };

  test.each([
    ['apiKey', 'attacker'],
    ['userAgent', 'attacker'],
    ['headers', { 'x-added': 'attacker' }],
    ['idempotencyKey', 'attacker'],
  ])('takes no %s from Object.prototype', async (name, value) => {
    const options = { apiUrl: 'https://service.example.com', apiKey: 'own-key', transport };
    pollute(name, value);
    const client = createClient(options);
    await client.run.status('r-1');
    expect(JSON.stringify(seen.at(-1)?.headers)).not.toContain('attacker');
  });

  test('ignores a key and a transport in Object.prototype', async () => {
    pollute('apiKey', 'attacker');
    const client = createClient({ apiUrl: 'https://service.example.com', transport });
    await expect(client.run.status('r-1')).rejects.toMatchObject({ code: 'credentials' });
    pollute('transport', transport);
    const before = seen.length;
    const other = createClient({ apiUrl: 'http://127.0.0.1:1', apiKey: 'own-key' });
    await expect(other.run.status('r-1', { maxRequests: 1 })).rejects.toMatchObject({
      code: 'network_refused',
    });
    expect(seen).toHaveLength(before);
  });
});

describe('with options in Object.prototype', () => {
  const failed = {
    async send({ method }: PreparedRequest) {
      const text = method === 'POST' ? '{"runId":"r-1"}' : '{"state":"completed","failed":1,"blocked":0}';
      return { status: 200, headers: { 'idempotency-replayed': 'false' }, text };
    },
    close: async () => {},
  };
  const service = { apiUrl: 'https://service.example.com', apiKey: 'own-key', transport: failed };
  const trigger = { projectSlug: 'shop', processSlug: 'checkout', environmentKey: 'staging' };

  test('a gate uses its own policy', async () => {
    pollute('on', { failed: 'pass' });
    const report = await gate({ ...service, runIds: ['r-1'] });
    expect(report).toMatchObject({ result: 'fail', exitCode: 1 });
  });

  test('gate and startRun send their own keys', async () => {
    pollute('idempotencyKey', 'attacker');
    const { runs } = await gate({ ...service, trigger });
    expect(runs[0]?.idempotencyKey).not.toBe('attacker');
    expect((await startRun({ ...service, trigger })).idempotencyKey).not.toBe('attacker');
  });

  test('a mock has its own key and port', async () => {
    pollute('apiKey', 'attacker');
    pollute('allowHosts', ['attacker.test']);
    const mock = await startMock({});
    expect(mock.apiKey).not.toBe('attacker');
    await mock.close();
  });
});
