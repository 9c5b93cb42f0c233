import { createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, type MockInstance, onTestFinished, test, vi } from 'vitest';
import { signSync } from '../../../src/webhook/node.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { until } from '../../until.ts';

export const secret = 'whsec-of-the-tests';
export const at = '2026-01-15T12:00:00.000Z';
const now = () => new Date(at);

export interface ReceivedResponse {
  status: number;
  body: Buffer;
}

/** A receiver with one route that responds 200 with the bytes of the delivery. */
export interface Receiver {
  send(body: Uint8Array, headers: readonly (readonly [string, string])[]): Promise<ReceivedResponse>;
  /** The errors that the app gets to see. */
  errors: unknown[];
  close(): Promise<unknown>;
}

export type Start = (options: ReceiveOptions) => Promise<Receiver>;

/** Sends a request over a real socket, with exactly these headers, and with Content-Length unless it is chunked. */
export function post(
  url: string,
  body: Uint8Array,
  headers: readonly (readonly [string, string])[],
): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(url);
    const flat = [['Host', host], ['Content-Type', 'application/json'], ...headers].flat();
    const declared = headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
    if (!declared) flat.push('Content-Length', String(body.length));
    const outgoing = request(url, { method: 'POST', headers: flat, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks) }));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Listens on a free loopback port. */
export async function listen(listener: RequestListener): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

export function headersFor(
  body: Uint8Array | string,
  { key = secret, timestamp = at } = {},
): [string, string][] {
  const { signature } = signSync({ body, secret: key, timestamp });
  return [
    ['X-Service-Timestamp', timestamp],
    ['X-Service-Signature', signature],
  ];
}

const bytes = (text: string) => new TextEncoder().encode(text);
const eventBody = bytes('{"event":"run.completed","marker":"observable"}');
const closers: (() => Promise<unknown>)[] = [];

/** Starts a receiver and closes it after the test. */
export async function started(start: Start, options: ReceiveOptions = {}): Promise<Receiver> {
  const receiver = await start({ secrets: secret, now, ...options });
  closers.push(receiver.close);
  return receiver;
}

/** The tests that every receiver must pass. */
export function testReceiver(name: string, start: Start): void {
  describe(`the receiver for ${name}`, () => {
    let logged: MockInstance<typeof console.error>;
    beforeEach(() => {
      logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    });
    afterEach(async () => {
      logged.mockRestore();
      for (const close of closers.splice(0)) await close();
    });
    const lines = () => logged.mock.calls.map((args) => args.join(' '));

    test.each([
      ['JSON', eventBody],
      ['an empty body', new Uint8Array()],
      ['bytes that are not text', Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0x00, 0x0d, 0x0a)],
      ['whitespace at both ends', bytes(' \n{}\r\n ')],
      ['a large body', new Uint8Array(700_000).fill(0x61)],
    ])('delivers %s unchanged', async (_what, body) => {
      const receiver = await started(start, { json: false });
      const response = await receiver.send(body, headersFor(body));
      expect(receiver.errors).toEqual([]);
      expect(response.status).toBe(200);
      expect(response.body.equals(body)).toBe(true);
      expect(lines()).toEqual([]);
    });

    test.each<[string, number, [string, string][], ReceiveOptions?]>([
      ['another body', 401, headersFor(bytes('{}'))],
      ['another secret', 401, headersFor(eventBody, { key: 'another' })],
      ['an old delivery', 401, headersFor(eventBody, { timestamp: '2026-01-15T11:54:59.000Z' })],
      ['a timestamp that is ahead', 401, headersFor(eventBody, { timestamp: '2026-01-15T12:01:01.000Z' })],
      ['no signature', 400, headersFor(eventBody).slice(0, 1)],
      ['no timestamp', 400, headersFor(eventBody).slice(1)],
      [
        'two signatures',
        400,
        [...headersFor(eventBody), ['x-service-signature', `sha256=${'0'.repeat(64)}`]],
      ],
      [
        'a signature with another algorithm',
        400,
        [
          ['X-Service-Timestamp', at],
          ['X-Service-Signature', 'sha1=00'],
        ],
      ],
      [
        'a timestamp without a zone',
        400,
        [
          ['X-Service-Timestamp', '2026-01-15T12:00:00'],
          ['X-Service-Signature', `sha256=${'0'.repeat(64)}`],
        ],
      ],
      ['a body over maxBytes', 413, headersFor(eventBody), { maxBytes: eventBody.length - 1 }],
    ])('refuses %s with %i and an empty body', async (_what, status, headers, options) => {
      const parse = vi.spyOn(JSON, 'parse');
      onTestFinished(() => parse.mockRestore());
      const receiver = await started(start, options);
      const response = await receiver.send(eventBody, headers);
      expect(response.status).toBe(status);
      // Fastify itself refuses large bodies, with its own message.
      if (!(status === 413 && name === 'Fastify')) expect(response.body.toString()).toBe('');
      // The receiver must not parse an unverified body.
      expect(parse.mock.calls.filter(([text]) => String(text).includes('observable'))).toEqual([]);
    });

    test.each([
      ['text', bytes('hello')],
      ['an empty body', new Uint8Array()],
      ['JSON that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ])('refuses an authentic delivery of %s with 400, and logs it', async (_what, body) => {
      const receiver = await started(start);
      const response = await receiver.send(body, headersFor(body));
      expect([response.status, response.body.toString()]).toEqual([400, '']);
      expect(lines()).toEqual([
        expect.stringContaining(
          'invalid_json (HTTP 400), 0 s old → set json: false to accept other bodies too',
        ),
      ]);
    });

    test.each<[string, string, ReceiveOptions]>([
      ['no secret', 'no_secret', { secrets: undefined }],
      ['a maxAge of 0', 'bad_option', { maxAge: 0 }],
    ])('passes %s to the app as an error, and responds 500', async (_what, code, options) => {
      const receiver = await started(start, options);
      expect((await receiver.send(eventBody, headersFor(eventBody))).status).toBe(500);
      expect(receiver.errors).toEqual([expect.objectContaining({ code })]);
      expect(lines()).toEqual([expect.stringContaining(`: ${code} (HTTP 500)`)]);
    });

    const marked = [
      ['X-Service-Timestamp', at],
      ['X-Service-Signature', 'observable'],
    ] as const;
    test.each<[string, readonly (readonly [string, string])[], string]>([
      [
        'another secret',
        headersFor(eventBody, { key: 'another' }),
        'mismatch (HTTP 401), 0 s old → verify the raw',
      ],
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
        const receiver = await started(start);
        await receiver.send(eventBody, headers);
        expect(lines()).toHaveLength(1);
        expect(lines()[0]).toContain(`rungate refused a webhook delivery: ${text}`);
        expect(lines()[0]).not.toMatch(/observable|run\.completed|sha256=[0-9a-f]|\n/);
      },
    );

    test('passes the error with its code and age to onError, and logs nothing', async () => {
      const reported: unknown[] = [];
      // This onError sends no response, so the request stays open until the receiver closes.
      const receiver = await started(start, { onError: (error) => reported.push(error) });
      const headers = headersFor(eventBody, { key: 'another', timestamp: '2026-01-15T11:59:30Z' });
      void receiver.send(eventBody, headers).catch(() => undefined);
      await until(() => reported.length === 1);
      expect(reported[0]).toMatchObject({ code: 'mismatch', ageSeconds: 30 });
      expect(lines()).toEqual([]);
    });

    test('reads the headers that headerNames names', async () => {
      const receiver = await started(start, {
        headerNames: { timestamp: 'X-Acme-Time', signature: 'X-Acme-Mac' },
      });
      const [[, timestamp] = [], [, signature] = []] = headersFor(eventBody);
      const headers: [string, string][] = [
        ['x-acme-time', String(timestamp)],
        ['X-ACME-MAC', String(signature).toUpperCase().replace('SHA256', 'sha256')],
      ];
      expect((await receiver.send(eventBody, headers)).status).toBe(200);
    });

    test('accepts every secret of a rotation, but only the tenant secret if it is set', async () => {
      const rotating = await started(start, { secrets: ['new', secret] });
      expect((await rotating.send(eventBody, headersFor(eventBody))).status).toBe(200);
      const tenant = await started(start, { tenantSecret: 'of the tenant' });
      expect((await tenant.send(eventBody, headersFor(eventBody))).status).toBe(401);
      expect((await tenant.send(eventBody, headersFor(eventBody, { key: 'of the tenant' }))).status).toBe(
        200,
      );
    });
  });
}

/** Expects `body_not_raw` for a body that was parsed first, with a hint how to fix it. */
export async function expectNotRaw(receiver: Receiver, sentence: RegExp): Promise<void> {
  const response = await receiver.send(eventBody, headersFor(eventBody));
  expect(response.status).toBe(500);
  expect(receiver.errors).toEqual([
    expect.objectContaining({
      code: 'body_not_raw',
      message: expect.stringMatching(sentence),
      hint: expect.stringMatching(sentence),
    }),
  ]);
}
