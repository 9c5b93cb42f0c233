import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import { WebhookVerificationError } from '../../../src/webhook/error.ts';
import { receive } from '../../../src/webhook/receivers/lambda.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { at, eventBody, headersFor, secret } from './suite.ts';

let logged: MockInstance<typeof console.error>;
beforeEach(() => {
  logged = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => logged.mockRestore());

/** Receives with the simplest receiver. */
function receiveEvent(
  body: string | Uint8Array,
  headers: readonly (readonly [string, string])[],
  options: ReceiveOptions = {},
) {
  const event = {
    headers: Object.fromEntries(headers),
    body: Buffer.from(body).toString('base64'),
    isBase64Encoded: true,
  };
  return receive(event, { secrets: secret, now: () => new Date(at), ...options });
}

describe('a receiver', () => {
  test.each([
    ['text', 'hello'],
    ['an empty body', ''],
    ['JSON that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
  ])('refuses an authentic delivery of %s, and logs no part of it', async (_what, body) => {
    const received = receiveEvent(body, headersFor(body));
    await expect(received).rejects.toMatchObject({ code: 'invalid_json' });
    expect(logged.mock.calls).toEqual([
      [
        'rungate refused a webhook delivery: invalid_json (HTTP 400), 0 s old → set json: false to accept other bodies too',
      ],
    ]);
  });

  const marked = [
    ['X-Service-Timestamp', at],
    ['X-Service-Signature', 'observable'],
  ] as const;
  test.each<[string, readonly (readonly [string, string])[], string]>([
    ['another secret', headersFor(eventBody, { key: 'another' }), 'mismatch (HTTP 401), 0 s old → verify'],
    [
      'an old delivery',
      headersFor(eventBody, { timestamp: '2026-01-15T11:00:00Z' }),
      'too_old (HTTP 401), 3600 s old → ',
    ],
    [
      'a timestamp that is ahead',
      headersFor(eventBody, { timestamp: '2026-01-15T12:02:00Z' }),
      'too_new (HTTP 401), 120 s ahead → ',
    ],
    ['a malformed signature', marked, 'malformed_signature (HTTP 400), 0 s old → '],
    ['no timestamp', headersFor(eventBody).slice(1), 'missing_header (HTTP 400) → '],
  ])(
    'logs %s in one line with the code and the age, but no text from the sender',
    async (_what, headers, text) => {
      await expect(receiveEvent(eventBody, headers)).rejects.toBeInstanceOf(WebhookVerificationError);
      expect(logged).toHaveBeenCalledOnce();
      const line = String(logged.mock.lastCall);
      expect(line).toContain(`rungate refused a webhook delivery: ${text}`);
      expect(line).not.toMatch(/observable|run\.completed|sha256=[0-9a-f]|\n/);
    },
  );

  test('reads the headers that headerNames names', async () => {
    const headerNames = { timestamp: 'X-Acme-Time', signature: 'X-Acme-Mac' };
    const [[, timestamp] = [], [, signature = ''] = []] = headersFor(eventBody);
    const headers = [
      ['x-acme-time', String(timestamp)],
      ['X-ACME-MAC', signature.toUpperCase().replace('SHA256', 'sha256')],
    ] as const;
    expect((await receiveEvent(eventBody, headers, { headerNames })).signature).toBe(signature);
  });

  test('accepts every secret of a rotation, but only the tenant secret if it is set', async () => {
    const received = (options: ReceiveOptions, key = secret) =>
      receiveEvent(eventBody, headersFor(eventBody, { key }), options);
    expect((await received({ secrets: ['new', secret] })).verified.secretIndex).toBe(1);
    const tenant = { tenantSecret: 'of the tenant' };
    await expect(received(tenant)).rejects.toMatchObject({ code: 'mismatch' });
    expect((await received(tenant, 'of the tenant')).verified.secretIndex).toBe(0);
  });

  test('decodes the body on request, and quotes none of it in an error', async () => {
    const received = (body: string | Uint8Array) => receiveEvent(body, headersFor(body), { json: false });
    const delivery = await received('{"a":"é"}');
    expect([delivery.text(), delivery.json()]).toEqual(['{"a":"é"}', { a: 'é' }]);
    expect((await received('\ufeff[1]')).json()).toEqual([1]);
    for (const body of ['{"a":', Uint8Array.of(0x22, 0xff, 0x22)]) {
      const { json } = await received(body);
      expect(json).toThrow(expect.objectContaining({ code: 'invalid_json' }));
      expect(json).not.toThrow(/"a"/);
    }
  });

  test('throws the refusal, whatever onError does', async () => {
    const broken: (() => unknown)[] = [
      () => {
        throw undefined;
      },
      () => Promise.reject(new Error('of onError')),
      () => new Promise(() => {}),
    ];
    for (const onError of broken) {
      const received = receiveEvent(eventBody, [], { onError: onError as () => void });
      await expect(received).rejects.toMatchObject({ code: 'missing_header' });
    }
  });
});
