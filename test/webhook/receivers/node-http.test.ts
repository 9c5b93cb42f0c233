import type { IncomingMessage } from 'node:http';
import { connect as connect2, createServer } from 'node:http2';
import { type AddressInfo, connect } from 'node:net';
import { json } from 'node:stream/consumers';
import { afterEach, describe, expect, test } from 'vitest';
import { receive, statusOf, WebhookReceiveError } from '../../../src/webhook/receivers/node-http.ts';
import type { ReceiveOptions } from '../../../src/webhook/receivers/public.ts';
import { expectNotRaw, headersFor, listen, post, type Receiver, started, testReceiver } from './suite.ts';

type Before = (request: IncomingMessage) => unknown;

function startWith(before?: Before) {
  return async (options: ReceiveOptions): Promise<Receiver> => {
    const errors: unknown[] = [];
    const { url, close } = await listen(async (request, response) => {
      try {
        await before?.(request);
        const delivery = await receive(request, options);
        response.end(delivery.bytes);
      } catch (error) {
        if (statusOf(error) === 500) errors.push(error);
        response.writeHead(statusOf(error)).end();
      }
    });
    return { send: (body, headers) => post(url, body, headers), errors, close };
  };
}

testReceiver('node:http', startWith());

describe('node:http', () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0)) await close();
  });

  test('gives body_not_raw with a remedy if the body was read before', async () => {
    const receiver = await started(startWith((request) => json(request)));
    closers.push(receiver.close);
    await expectNotRaw(receiver, /before anything reads it/);
  });

  test('gives body_not_raw with a remedy after setEncoding()', async () => {
    const receiver = await started(startWith((request) => request.setEncoding('utf8')));
    closers.push(receiver.close);
    await expectNotRaw(receiver, /setEncoding\(\)/);
  });

  test('uses the rawBody of a host, without calling its body getter', async () => {
    let bodyReads = 0;
    const receiver = await started(
      startWith(async (request) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(chunk);
        Object.defineProperty(request, 'rawBody', { value: Buffer.concat(chunks) });
        Object.defineProperty(request, 'body', { get: () => (bodyReads += 1) });
      }),
    );
    closers.push(receiver.close);
    expect((await receiver.send(Buffer.from('{}'), headersFor('{}'))).status).toBe(200);
    expect(bodyReads).toBe(0);
  });

  test('applies maxBytes to a chunked body', async () => {
    const receiver = await started(startWith(), { maxBytes: 1000 });
    closers.push(receiver.close);
    const body = Buffer.alloc(200_000, 0x31);
    const chunked: [string, string][] = [...headersFor(body), ['Transfer-Encoding', 'chunked']];
    expect((await receiver.send(body, chunked)).status).toBe(413);
    const small = Buffer.alloc(1000, 0x31);
    const headers: [string, string][] = [...headersFor(small), ['Transfer-Encoding', 'chunked']];
    expect((await receiver.send(small, headers)).status).toBe(200);
  });

  test('gives body_incomplete if the sender disconnects', async () => {
    let settle: (value: unknown) => void = () => undefined;
    const outcome = new Promise((resolve) => {
      settle = resolve;
    });
    let arrive = () => {};
    const arrived = new Promise<void>((resolve) => {
      arrive = resolve;
    });
    const { url, close } = await listen((request) => {
      receive(request, { secrets: 'x' }).then(settle, settle);
      request.once('data', () => arrive());
    });
    closers.push(close);
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nhalf');
    await arrived;
    socket.destroy();
    const error = await outcome;
    expect(error).toBeInstanceOf(WebhookReceiveError);
    expect(error).toMatchObject({ code: 'body_incomplete' });
    expect(statusOf(error)).toBe(400);
  });

  test('reads a node:http2 request, and reads the secrets for each delivery', async () => {
    let current = 'old';
    const options: ReceiveOptions = {
      maxAge: null,
      get secrets() {
        return current;
      },
    };
    const server = createServer(async (request, response) => {
      const status = await receive(request, options).then(() => 200, statusOf);
      response.writeHead(status).end();
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const session = connect2(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    closers.push(async () => {
      session.close();
      server.close();
    });
    const send = (key: string) =>
      new Promise((resolve, reject) => {
        const headers = Object.fromEntries(headersFor('{}', { key }));
        const stream = session.request({ ':method': 'POST', ':path': '/', ...headers });
        stream.on('response', (responseHeaders) => resolve(responseHeaders[':status'])).on('error', reject);
        stream.resume().end('{}');
      });
    expect(await send('old')).toBe(200);
    current = 'new';
    expect([await send('old'), await send('new')]).toEqual([401, 200]);
  });

  test.each([undefined, { secrets: 'x', maxBytes: 0 }, { secrets: 'x', maxBytes: Number.NaN }])(
    'gives bad_option for the options %j',
    async (options) => {
      const request = {} as never;
      await expect(receive(request, options as never)).rejects.toMatchObject({ code: 'bad_option' });
    },
  );
});
