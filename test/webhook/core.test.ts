import { createHmac } from 'node:crypto';
import { inspect } from 'node:util';
import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseTimestamp } from '../../src/date-time.ts';
import * as node from '../../src/webhook/node.ts';
import * as web from '../../src/webhook/web.ts';

const timestamp = '2026-07-01T12:00:00.000Z';

function reference(secret: string | Uint8Array, body: string | Uint8Array): string {
  return `sha256=${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex')}`;
}

describe('sign gives the same result as createHmac', () => {
  test('for text and byte keys of lengths around the block size', async () => {
    for (const length of [1, 20, 21, 22, 32, 63, 64, 65, 127, 128, 129, 1000]) {
      for (const secret of ['k'.repeat(length), 'é'.repeat(length), new Uint8Array(length).fill(255)]) {
        const signature = reference(secret, '{}');
        expect(node.signSync({ secret, body: '{}', timestamp }).signature).toBe(signature);
        expect((await web.sign({ secret, body: '{}', timestamp })).signature).toBe(signature);
      }
    }
  });

  test('for text with lone surrogates, which UTF-8 cannot encode', async () => {
    for (const body of ['\ud800', 'a\udc00', '\ud83d'.repeat(3000), '\udc00x'.repeat(10)]) {
      expect(node.signSync({ secret: body, body, timestamp }).signature).toBe(reference(body, body));
      expect((await web.sign({ secret: body, body, timestamp })).signature).toBe(reference(body, body));
    }
  });
});

test('bytes that change after the call do not change the WebCrypto signature', async () => {
  const [secret, body] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const expected = reference(secret, body);
  const signing = web.sign({ secret, body, timestamp });
  secret.fill(0);
  body.fill(0);
  expect((await signing).signature).toBe(expected);
});

test('accepts bytes of another realm', async () => {
  const body = runInNewContext('new Uint8Array([123, 125])');
  const now = new Date(timestamp);
  const signature = reference('k', body);
  const headers = { 'x-service-timestamp': timestamp, 'x-service-signature': signature };
  for (const { verify } of [node, web]) {
    expect(await verify({ body, now, headers, secrets: 'k' })).toMatchObject({
      secretIndex: 0,
      ageSeconds: 0,
    });
  }
});

test('an error that the caller’s own objects throw becomes the cause', () => {
  const cause = new Error('not loaded yet');
  const options = {
    secret: 'k',
    get body(): string {
      throw cause;
    },
  };
  const error = thrownBy(() => node.signSync(options)) as node.WebhookVerificationError;
  expect(error.code).toBe('bad_option');
  expect(error.cause).toBe(cause);
});

function thrownBy(call: () => unknown): unknown {
  try {
    return call();
  } catch (error) {
    return error;
  }
}

test('no message contains the secret, the signature or the body', async () => {
  const [secret, body, hex] = ['whsec_do-not-print', 'body-do-not-print', 'abcdef0123456789'.repeat(4)];
  const now = new Date(timestamp);
  const headers = (signature: string) => ({
    'x-service-timestamp': timestamp,
    'x-service-signature': signature,
  });
  for (const signature of [`sha256=${hex}`, hex, reference(secret, body)]) {
    const options = { body, secrets: secret, headers: headers(signature), now, maxAge: 1e-9 };
    const error = thrownBy(() => node.verifySync({ ...options, now: new Date(now.getTime() + 1000) }));
    expect(inspect(error)).toContain('WebhookVerificationError');
    expect(inspect(error)).not.toMatch(/do-not-print|abcdef/);
  }
});

test('reads a header full of whitespace in linear time', () => {
  const value = `a${' '.repeat(300_000)}b`;
  const error = thrownBy(() =>
    node.verifySync({
      body: '',
      secrets: 'k',
      headers: { 'x-service-timestamp': value, 'x-service-signature': value },
    }),
  );
  expect(error).toMatchObject({ code: 'malformed_timestamp' });
});

describe('parseTimestamp', () => {
  test('agrees with Date, with and without an offset', () => {
    const zones = fc.constantFrom('Z', 'z', '+00:00', '-00:00', '+02:00', '-05:30', '+23:59', '-23:59');
    const dates = fc.date({ min: new Date('0001-01-02'), max: new Date('9998-12-30'), noInvalidDate: true });
    fc.assert(
      fc.property(dates, zones, (date, zone) => {
        const text = `${date.toISOString().slice(0, -1)}${zone}`;
        expect(parseTimestamp(text)).toBe(Date.parse(text.toUpperCase()));
      }),
    );
  });

  test.each([
    ['9999-12-31T23:59:59.999999999Z', 253_402_300_799_999],
    ['2016-12-31T23:59:60Z', Date.UTC(2017, 0, 1)],
    ['2023-02-29T00:00:00Z', null],
    ['2026-01-01T00:00:61Z', null],
    ['2026-01-01T00:00:00,5Z', null],
    ['2026-01-01T00:00:00−01:00', null],
    ['+02026-01-01T00:00:00Z', null],
  ])('parses %j as %j', (text, milliseconds) => expect(parseTimestamp(text)).toBe(milliseconds));
});

test.each([7, 'soon'])('sign rejects the timestamp %j', (wrong) => {
  const sign = () => node.signSync({ body: '', secret: 'k', timestamp: wrong as never });
  expect(thrownBy(sign)).toMatchObject({ code: 'malformed_timestamp' });
});

test.each<[string, unknown]>([
  ['tenantSecret', 'attacker'],
  ['secrets', 'attacker'],
  ['maxAge', null],
  ['headerNames', { timestamp: 'x-t', signature: 'x-s' }],
])('ignores %s in Object.prototype', async (name, value) => {
  const { signature } = node.signSync({ secret: 'attacker', body: '{}', timestamp });
  const headers = { 'x-service-timestamp': timestamp, 'x-service-signature': signature };
  Object.defineProperty(Object.prototype, name, { value, configurable: true });
  try {
    for (const { verify } of [node, web])
      await expect(verify({ body: '{}', headers, secrets: 'real', maxAge: 300 })).rejects.toThrow();
    expect(() => node.verifySync({ body: '{}', headers } as never)).toThrow(
      expect.objectContaining({ code: 'no_secret' }),
    );
  } finally {
    Reflect.deleteProperty(Object.prototype, name);
  }
});
