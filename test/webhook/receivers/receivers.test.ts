import { json } from 'node:stream/consumers';
import express5 from 'express';
import { afterEach, beforeEach, describe, expect, type MockInstance, test, vi } from 'vitest';
import * as onExpress from '../../../src/webhook/receivers/express.ts';
import * as onFastify from '../../../src/webhook/receivers/fastify.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { headersFor, now, type Pairs, secret } from './sending.ts';
import {
  echo,
  express4,
  lambdaEvents,
  type Start,
  starts,
  withExpress,
  withFastify,
  withHono,
  withLambda,
  withNode,
} from './starts.ts';

let logged: MockInstance<typeof console.error>;
beforeEach(() => {
  logged = vi.spyOn(console, 'error').mockImplementation(() => {});
});
afterEach(() => void vi.restoreAllMocks());

const event = '{"event":"run.completed","marker":"observable"}';
const started = (start: Start, options: ReceiveOptions = {}) => start({ secrets: secret, now, ...options });
const logOf = (text: string) => [[expect.stringContaining(`rungate refused a webhook delivery: ${text}`)]];

const accepted: readonly [string, string | Uint8Array][] = [
  ['JSON', event],
  ['an empty body', ''],
  ['bytes that are not text', Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0x00, 0x0d, 0x0a)],
  ['a large body', new Uint8Array(700_000).fill(0x61)],
];

const malformed: Pairs = [headersFor(event)[0] as [string, string], ['X-Service-Signature', 'observable']];
const twice: Pairs = [...headersFor(event), ['x-service-signature', `sha256=${'0'.repeat(64)}`]];
const signedAt = (time: string) => headersFor(event, { timestamp: `2026-01-15T${time}Z` });

/** Deliveries of `event`, with the status code of their refusal, and the beginning of the line in the log. */
const refused: readonly [string, number, Pairs, string, ReceiveOptions?][] = [
  ['the signature of another body', 401, headersFor('{}'), 'mismatch (HTTP 401), 0 s old → verify'],
  ['an old delivery', 401, signedAt('11:00:00'), 'too_old (HTTP 401), 3600 s old → '],
  ['a timestamp that is ahead', 401, signedAt('12:02:00'), 'too_new (HTTP 401), 120 s ahead → '],
  ['no signature', 400, headersFor(event).slice(0, 1), 'missing_header (HTTP 400) → '],
  ['two signatures', 400, twice, 'duplicate_header (HTTP 400)'],
  ['a malformed signature', 400, malformed, 'malformed_signature (HTTP 400), 0 s old → '],
  ['a large body', 413, headersFor(event), 'body_too_large (HTTP 413)', { maxBytes: event.length - 1 }],
];

describe.each(Object.entries(starts))('%s', (name, start) => {
  test.each(accepted)('delivers %s unchanged', async (_what, body) => {
    const receiver = await started(start, { json: false });
    const response = await receiver.send(body, headersFor(body));
    expect(receiver.errors).toEqual([]);
    expect(response.status).toBe(200);
    expect(response.body.equals(Buffer.from(body))).toBe(true);
    expect(logged).not.toHaveBeenCalled();
  });

  test.each(refused)(
    'refuses %s with %i and an empty body, parses nothing, and logs one line without text from the sender',
    async (_what, status, headers, line, options) => {
      const parse = vi.spyOn(JSON, 'parse');
      const receiver = await started(start, options);
      const response = await receiver.send(event, headers);
      expect([response.status, response.body.toString()]).toEqual([status, '']);
      expect(parse.mock.calls.filter(([text]) => String(text).includes('observable'))).toEqual([]);
      // Fastify itself refuses large bodies.
      if (status === 413 && name === 'Fastify') return;
      expect(logged.mock.calls).toEqual(logOf(line));
      expect(String(logged.mock.lastCall)).not.toMatch(/observable|run\.completed|sha256=[0-9a-f]|\n/);
    },
  );

  test('reads the secrets for each delivery, and passes a missing one to the app as an error', async () => {
    let current: string | undefined = 'old';
    const options = {
      get secrets() {
        return current;
      },
      now,
    };
    const receiver = await start(options);
    expect((await receiver.send(event, headersFor(event, { key: 'old' }))).status).toBe(200);
    current = 'new';
    expect((await receiver.send(event, headersFor(event, { key: 'old' }))).status).toBe(401);
    expect((await receiver.send(event, headersFor(event, { key: 'new' }))).status).toBe(200);
    logged.mockClear();
    current = undefined;
    expect((await receiver.send(event, headersFor(event, { key: 'new' }))).status).toBe(500);
    expect(receiver.errors).toEqual([expect.objectContaining({ code: 'no_secret' })]);
    expect(logged.mock.calls).toEqual(logOf('no_secret (HTTP 500)'));
  });
});

/** Apps that read or parse the body before the receiver, and the remedy in the error. */
const parsers: readonly [string, Start, RegExp][] = [
  ...[express4, express5].flatMap((express, index): [string, Start, RegExp][] =>
    Object.entries({ json: express.json(), text: express.text({ type: '*/*' }) }).map(([name, parser]) => [
      `express.${name}() of Express ${index + 4}`,
      withExpress(express, (app, options) => app.post('/hook', parser, onExpress.webhook(options), echo)),
      /before express\.json\(\).*express\.raw\({ type: '\*\/\*' }\)/,
    ]),
  ),
  [
    'a content type parser of Fastify',
    withFastify((scope, options) => {
      onFastify.webhook(scope, options);
      scope.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) =>
        done(null, JSON.parse(String(body))),
      );
    }),
    /add no content type parser/,
  ],
  ['json() of Hono', withHono((context) => context.req.json()), /c\.req\.raw before c\.req\.json\(\)/],
  [
    'a reader of the Request',
    withHono((context) => context.req.raw.body?.getReader()),
    /c\.req\.raw before c\.req\.json\(\)/,
  ],
  ['a reader of node:http', withNode((request) => json(request)), /before anything reads it/],
  ['setEncoding()', withNode((request) => request.setEncoding('utf8')), /setEncoding\(\)/],
  [
    'a body parser in Lambda',
    withLambda(lambdaEvents['a REST API'], (one) => ({
      ...one,
      body: JSON.parse(String(one.body)) as never,
    })),
    /before a body parser.*proxy integration/,
  ],
];

test.each(parsers)('after %s, the error is body_not_raw with the remedy', async (_what, start, sentence) => {
  const receiver = await started(start);
  expect((await receiver.send(event, headersFor(event))).status).toBe(500);
  const { code, message, hint } = receiver.errors[0] as { code: string; message: string; hint: string };
  expect(code).toBe('body_not_raw');
  expect(message).toMatch(sentence);
  expect(hint).toMatch(sentence);
});
