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

export const bytes = (text: string) => new TextEncoder().encode(text);
export const eventBody = bytes('{"event":"run.completed","marker":"observable"}');
const closers: (() => Promise<unknown>)[] = [];

/** Starts a receiver and closes it after the test. */
export async function started(start: Start, options: ReceiveOptions = {}): Promise<Receiver> {
  const receiver = await start({ secrets: secret, now, ...options });
  closers.push(receiver.close);
  return receiver;
}

/** The duties of every receiver; the core that they share is tested in delivery.test.ts. */
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

    test.each([
      ['JSON', eventBody],
      ['an empty body', new Uint8Array()],
      ['bytes that are not text', Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0x00, 0x0d, 0x0a)],
      ['a large body', new Uint8Array(700_000).fill(0x61)],
    ])('delivers %s unchanged', async (_what, body) => {
      const receiver = await started(start, { json: false });
      const response = await receiver.send(body, headersFor(body));
      expect(receiver.errors).toEqual([]);
      expect(response.status).toBe(200);
      expect(response.body.equals(body)).toBe(true);
      expect(logged).not.toHaveBeenCalled();
    });

    test.each<[string, number, [string, string][], ReceiveOptions?]>([
      ['another body', 401, headersFor(bytes('{}'))],
      ['an old delivery', 401, headersFor(eventBody, { timestamp: '2026-01-15T11:54:59.000Z' })],
      ['no signature', 400, headersFor(eventBody).slice(0, 1)],
      [
        'two signatures',
        400,
        [...headersFor(eventBody), ['x-service-signature', `sha256=${'0'.repeat(64)}`]],
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

    test('passes a missing secret to the app as an error, and responds 500', async () => {
      const receiver = await started(start, { secrets: undefined });
      expect((await receiver.send(eventBody, headersFor(eventBody))).status).toBe(500);
      expect(receiver.errors).toEqual([expect.objectContaining({ code: 'no_secret' })]);
      expect(logged.mock.calls.flat()).toEqual([expect.stringContaining(': no_secret (HTTP 500)')]);
    });

    test('passes the error with its code and age to onError, and logs nothing', async () => {
      const reported: unknown[] = [];
      // This onError sends no response, so the request stays open until the receiver closes.
      const receiver = await started(start, { onError: (error) => reported.push(error) });
      const headers = headersFor(eventBody, { key: 'another', timestamp: '2026-01-15T11:59:30Z' });
      void receiver.send(eventBody, headers).catch(() => undefined);
      await until(() => reported.length === 1);
      expect(reported[0]).toMatchObject({ code: 'mismatch', ageSeconds: 30 });
      expect(logged).not.toHaveBeenCalled();
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
