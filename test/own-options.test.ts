import { afterEach, describe, expect, test } from 'vitest';
import * as node from '../src/webhook/node.ts';
import { deliveryOf } from '../src/webhook/receivers/express.ts';
import * as fetchReceiver from '../src/webhook/receivers/fetch.ts';
import * as lambda from '../src/webhook/receivers/lambda.ts';
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
  ['maxBytes', 1, () => sent('attacker'), 'mismatch'],
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

test('the signature of a delivery, which tells replays apart, ignores headerNames in Object.prototype', async () => {
  const headers = sent('real');
  pollute('headerNames', { signature: 'x-other' });
  const delivery = await lambda.receive(
    { headers: { ...headers, 'x-other': '1' }, body },
    { secrets: 'real' },
  );
  expect(delivery.signature).toBe(headers['x-service-signature']);
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
