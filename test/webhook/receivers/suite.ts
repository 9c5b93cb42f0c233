import { createServer, type RequestListener, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, type MockInstance, onTestFinished, test, vi } from 'vitest';
import { signSync } from '../../../src/webhook/node.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';

export const secret = 'whsec-of-the-tests';
export const at = '2026-01-15T12:00:00.000Z';
const now = () => new Date(at);

export interface Answer {
  status: number;
  body: Buffer;
}

/** A receiver with one route that answers 200 and the bytes of the delivery. */
export interface Receiver {
  send(body: Uint8Array, headers: readonly (readonly [string, string])[]): Promise<Answer>;
  /** What did not reach the handler, as far as the app gets to see it. */
  errors: unknown[];
  close(): Promise<unknown>;
}

export type Start = (options: ReceiveOptions) => Promise<Receiver>;

/** A real socket: headers as they are, and a length or chunks. */
export function post(
  url: string,
  body: Uint8Array,
  headers: readonly (readonly [string, string])[],
): Promise<Answer> {
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

/** A listener on a free port of the loopback. */
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
const order = bytes('{"event":"run.completed","marker":"observable"}');
const closers: (() => Promise<unknown>)[] = [];

/** Starts a receiver that is closed after the test. */
export async function started(start: Start, options: ReceiveOptions = {}): Promise<Receiver> {
  const receiver = await start({ secrets: secret, now, ...options });
  closers.push(receiver.close);
  return receiver;
}

/** What an adapter promises, whatever it is an adapter for. */
export function promises(name: string, start: Start): void {
  describe(`a receiver on ${name}`, () => {
    let logged: MockInstance<typeof console.error>;
    beforeEach(() => {
      logged = vi.spyOn(console, 'error').mockImplementation(() => {});
    });
    afterEach(async () => {
      logged.mockRestore();
      for (const close of closers.splice(0)) await close();
    });
    const lines = () => logged.mock.calls.map((words) => words.join(' '));

    test.each([
      ['JSON', order],
      ['an empty body', new Uint8Array()],
      ['bytes that are no text', Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0x00, 0x0d, 0x0a)],
      ['white space at both ends', bytes(' \n{}\r\n ')],
      ['many chunks', new Uint8Array(700_000).fill(0x61)],
    ])('hands out %s as it was sent', async (_what, body) => {
      const receiver = await started(start, { json: false });
      const answer = await receiver.send(body, headersFor(body));
      expect(receiver.errors).toEqual([]);
      expect(answer.status).toBe(200);
      expect(answer.body.equals(body)).toBe(true);
      expect(lines()).toEqual([]);
    });

    test.each<[string, number, [string, string][], ReceiveOptions?]>([
      ['a body that is not the one signed', 401, headersFor(bytes('{}'))],
      ['another secret', 401, headersFor(order, { key: 'another' })],
      ['one that is too old', 401, headersFor(order, { timestamp: '2026-01-15T11:54:59.000Z' })],
      ['one that is too new', 401, headersFor(order, { timestamp: '2026-01-15T12:01:01.000Z' })],
      ['no signature', 400, headersFor(order).slice(0, 1)],
      ['no timestamp', 400, headersFor(order).slice(1)],
      ['two signatures', 400, [...headersFor(order), ['x-service-signature', `sha256=${'0'.repeat(64)}`]]],
      [
        'a signature of another kind',
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
      ['more bytes than are allowed', 413, headersFor(order), { maxBytes: order.length - 1 }],
    ])('refuses %s with %i, and says nothing else to the sender', async (_what, status, headers, options) => {
      const parse = vi.spyOn(JSON, 'parse');
      onTestFinished(() => parse.mockRestore());
      const receiver = await started(start, options);
      const answer = await receiver.send(order, headers);
      expect(answer.status).toBe(status);
      // Fastify refuses by itself what is too large, in its own words.
      if (!(status === 413 && name === 'Fastify')) expect(answer.body.toString()).toBe('');
      // What is not verified is not parsed.
      expect(parse.mock.calls.filter(([text]) => String(text).includes('observable'))).toEqual([]);
    });

    test.each([
      ['text', bytes('hello')],
      ['an empty body', new Uint8Array()],
      ['JSON that is not UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ])('refuses %s that is authentic and not JSON with 400, and logs it', async (_what, body) => {
      const receiver = await started(start);
      const answer = await receiver.send(body, headersFor(body));
      expect([answer.status, answer.body.toString()]).toEqual([400, '']);
      expect(lines()).toEqual([
        expect.stringContaining(
          'invalid_json (HTTP 400), 0 s old → set json: false to take other bodies too',
        ),
      ]);
    });

    test.each<[string, string, ReceiveOptions]>([
      ['no secret', 'no_secret', { secrets: undefined }],
      ['a tolerance of 0', 'bad_option', { maxAge: 0 }],
    ])('takes %s for a mistake of ours', async (_what, code, options) => {
      const receiver = await started(start, options);
      expect((await receiver.send(order, headersFor(order))).status).toBe(500);
      expect(receiver.errors).toEqual([expect.objectContaining({ code })]);
      expect(lines()).toEqual([expect.stringContaining(`: ${code} (HTTP 500)`)]);
    });

    const marked = [
      ['X-Service-Timestamp', at],
      ['X-Service-Signature', 'observable'],
    ] as const;
    test.each<[string, readonly (readonly [string, string])[], string]>([
      [
        'a wrong secret',
        headersFor(order, { key: 'another' }),
        'mismatch (HTTP 401), 0 s old → verify the raw',
      ],
      [
        'one that is too old',
        headersFor(order, { timestamp: '2026-01-15T11:00:00Z' }),
        'too_old (HTTP 401), 3600 s old → ',
      ],
      [
        'one that is too new',
        headersFor(order, { timestamp: '2026-01-15T12:02:00Z' }),
        'too_new (HTTP 401), 120 s ahead → ',
      ],
      ['a signature that is none', marked, 'malformed_signature (HTTP 400), 0 s old → '],
      ['no timestamp', headersFor(order).slice(1), 'missing_header (HTTP 400) → '],
    ])(
      'logs %s in one line: the code and the age, and nothing of the sender’s',
      async (_what, headers, text) => {
        const receiver = await started(start);
        await receiver.send(order, headers);
        expect(lines()).toHaveLength(1);
        expect(lines()[0]).toContain(`rungate refused a webhook delivery: ${text}`);
        expect(lines()[0]).not.toMatch(/observable|run\.completed|sha256=[0-9a-f]|\n/);
      },
    );

    test('onError gets the error with its code and age, and nothing is logged', async () => {
      const told: unknown[] = [];
      // The middleware's onError answers as well; what it leaves open ends with the receiver.
      const receiver = await started(start, { onError: (error) => told.push(error) });
      const headers = headersFor(order, { key: 'another', timestamp: '2026-01-15T11:59:30Z' });
      void receiver.send(order, headers).catch(() => undefined);
      await vi.waitFor(() => expect(told).toHaveLength(1));
      expect(told[0]).toMatchObject({ code: 'mismatch', ageSeconds: 30 });
      expect(lines()).toEqual([]);
    });

    test('goes by the names that the headers have', async () => {
      const receiver = await started(start, {
        headerNames: { timestamp: 'X-Acme-Time', signature: 'X-Acme-Mac' },
      });
      const [[, timestamp] = [], [, signature] = []] = headersFor(order);
      const headers: [string, string][] = [
        ['x-acme-time', String(timestamp)],
        ['X-ACME-MAC', String(signature).toUpperCase().replace('SHA256', 'sha256')],
      ];
      expect((await receiver.send(order, headers)).status).toBe(200);
    });

    test('takes the old secret while it is rotated, and the tenant’s alone where there is one', async () => {
      const rotating = await started(start, { secrets: ['new', secret] });
      expect((await rotating.send(order, headersFor(order))).status).toBe(200);
      const tenant = await started(start, { tenantSecret: 'of the tenant' });
      expect((await tenant.send(order, headersFor(order))).status).toBe(401);
      expect((await tenant.send(order, headersFor(order, { key: 'of the tenant' }))).status).toBe(200);
    });
  });
}

/** The mistake that everybody makes: the error is ours to see, names the mistake, and says how to mend it. */
export async function expectNotRaw(receiver: Receiver, sentence: RegExp): Promise<void> {
  const answer = await receiver.send(order, headersFor(order));
  expect(answer.status).toBe(500);
  expect(receiver.errors).toEqual([
    expect.objectContaining({
      code: 'body_not_raw',
      message: expect.stringMatching(sentence),
      hint: expect.stringMatching(sentence),
    }),
  ]);
}
