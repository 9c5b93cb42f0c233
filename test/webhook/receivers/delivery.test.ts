import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { receive } from '../../../src/webhook/receivers/lambda.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { headersFor, now, type Pairs, secret } from './sending.ts';

beforeEach(() => void vi.spyOn(console, 'error').mockImplementation(() => {}));
afterEach(() => void vi.restoreAllMocks());

/** Receives with the simplest receiver. */
function receiveBody(body: string | Uint8Array, options: ReceiveOptions = {}, headers?: Pairs) {
  const event = {
    headers: Object.fromEntries(headers ?? headersFor(body)),
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
  };
  return receive(event, { secrets: secret, now, ...options });
}

const notJson: readonly [string, string | Uint8Array][] = [
  ['text', 'hello'],
  ['an empty body', ''],
  ['JSON that breaks off', '{"a":'],
  ['JSON that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
];

describe('a receiver', () => {
  test.each(notJson)('refuses an authentic delivery of %s, and logs no part of it', async (_what, body) => {
    await expect(receiveBody(body)).rejects.toMatchObject({ code: 'invalid_json' });
    const line =
      'rungate refused a webhook delivery: invalid_json (HTTP 400), 0 s old → set json: false to accept other bodies too';
    expect(vi.mocked(console.error).mock.calls).toEqual([[line]]);
  });

  test.each(notJson)(
    'accepts %s with json: false, and quotes none of it in an error',
    async (_what, body) => {
      const { json, bytes } = await receiveBody(body, { json: false });
      expect(Buffer.from(bytes)).toEqual(Buffer.from(body));
      expect(json).toThrow(expect.objectContaining({ code: 'invalid_json' }));
      expect(json).not.toThrow(/"a"/);
    },
  );

  test('reads the headers that headerNames names, and returns the signature in lower case', async () => {
    const headerNames = { timestamp: 'X-Acme-Time', signature: 'X-Acme-Mac' };
    const [[, timestamp = ''] = [], [, signature = ''] = []] = headersFor('{}');
    const headers: Pairs = [
      ['x-acme-time', timestamp],
      ['X-ACME-MAC', signature.toUpperCase().replace('SHA256', 'sha256')],
    ];
    expect((await receiveBody('{}', { headerNames }, headers)).signature).toBe(signature);
  });

  test.each([0, Number.NaN])('refuses the maxBytes %d', async (maxBytes) => {
    await expect(receiveBody('{}', { maxBytes })).rejects.toMatchObject({ code: 'bad_option' });
  });

  test.each<[string, () => unknown]>([
    ['throws undefined', () => Promise.reject()],
    ['rejects', () => Promise.reject(new Error('of onError'))],
    ['never ends', () => new Promise(() => {})],
  ])('throws the refusal, also if onError %s', async (_what, onError) => {
    const received = receiveBody('{}', { onError: onError as () => void }, []);
    await expect(received).rejects.toMatchObject({ code: 'missing_header' });
  });
});
