import { createServer as createTcpServer, type Socket } from 'node:net';
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';
import { afterEach, describe, expect, test } from 'vitest';
import { HttpError, NetworkError, UnexpectedResponseError, UsageError } from '../../src/errors.ts';
import { nameInCommands } from '../../src/options/spelling.ts';
import { receiver } from '../../src/transport/address.ts';
import { httpTransport, type Transport, type TransportOptions } from '../../src/transport/send.ts';
import type { PreparedRequest } from '../../src/transport/transport.ts';
import { rejection } from '../client/rejection.ts';
import { listen } from '../listen.ts';
import { turns, until } from '../until.ts';
import { json, serve } from './serve.ts';

let transport: Transport | undefined;
afterEach(async () => {
  await transport?.close();
  transport = undefined;
});

function open(options: Omit<TransportOptions, 'to'> = {}): Transport {
  transport = httpTransport({ ...options, to: receiver('service', nameInCommands) });
  return transport;
}

function request(url: string, parts: Partial<PreparedRequest> = {}): PreparedRequest {
  const at = new URL('/api/x', url);
  const headers = { 'x-api-key': 'secret-key', 'accept-encoding': 'identity' };
  return {
    endpoint: 'x.get',
    method: 'GET',
    url: at,
    path: at.pathname,
    headers,
    repeatable: true,
    ...parts,
  };
}

/** Starts a TCP server and returns its host and port. */
async function tcp(talk: (socket: Socket) => void): Promise<string> {
  const server = createTcpServer((socket) => talk(socket.on('error', () => {})));
  return `127.0.0.1:${await listen(server)}`;
}

const patient = { timeoutMs: 100_000 };

describe('a response', () => {
  test('has a status code, lower-case headers and a text', async () => {
    const { url, seen } = await serve(({ response }) => {
      response.setHeader('X-Many', ['a', 'b']);
      json(response, 201, { ok: 'ä' }, { 'X-Request-Id': 'r1' });
    });
    const post = request(url, { method: 'POST', body: '{"a":1}' });
    const response = await open().send(post, patient);
    expect(response).toMatchObject({ status: 201, text: '{"ok":"ä"}' });
    expect(response.headers).toMatchObject({ 'x-many': 'a, b', 'x-request-id': 'r1' });
    expect(seen).toMatchObject([{ method: 'POST', url: '/api/x', body: '{"a":1}' }]);
    expect(seen[0]?.headers).toMatchObject({ 'x-api-key': 'secret-key', 'accept-encoding': 'identity' });
  });

  test('is decoded with U+FFFD for invalid bytes and without its byte order mark', async () => {
    const bytes = Buffer.concat([
      Buffer.from([0xef, 0xbb, 0xbf]),
      Buffer.from('"a'),
      Buffer.from([0xff]),
      Buffer.from('"'),
    ]);
    const { url } = await serve(({ response }) => response.end(bytes));
    expect((await open().send(request(url), patient)).text).toBe('"a\ufffd"');
  });

  test('that is too large is an unexpected-response error', async () => {
    const { url } = await serve(({ response }) => response.end('x'.repeat(5000)));
    const error = await rejection(
      open({ maxBodyBytes: 1000 }).send(request(url), patient),
      UnexpectedResponseError,
    );
    expect(error).toMatchObject({ unreadable: false, status: 200 });
    expect(error.message).toContain('at most 1000 bytes');
  });

  test('with an error status keeps that status even if it is too large', async () => {
    const { url } = await serve(({ response }) => {
      response.statusCode = 503;
      response.end('x'.repeat(5000));
    });
    expect((await open({ maxBodyBytes: 1000 }).send(request(url), patient)).status).toBe(503);
  });

  const coded = async (coding: string, body: Uint8Array, status = 200) =>
    serve(({ response }) => {
      response.writeHead(status, { 'content-encoding': coding });
      response.end(body);
    });
  const text = JSON.stringify({ state: 'in_progress' });

  test.each([
    ['gzip', gzipSync(text)],
    [' GZip ', gzipSync(text)],
    ['deflate', deflateSync(text)],
    ['deflate', deflateRawSync(text)],
    ['br', brotliCompressSync(text)],
  ])('is decoded if it has the content coding %s', async (coding, body) => {
    const { url } = await coded(coding, body);
    const response = await open().send(request(url), patient);
    expect(response.text).toBe(text);
    expect(response.headers).not.toHaveProperty('content-encoding');
  });

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
  ] as const)('that becomes too large when it is decoded is one too: %s', async (coding, code) => {
    const bomb = code(Buffer.alloc(5000, 0x20));
    const [good, bad] = [await coded(coding, bomb), await coded(coding, bomb, 503)];
    const small = open({ maxBodyBytes: 1000 });
    const error = await rejection(small.send(request(good.url), patient), UnexpectedResponseError);
    expect(error).toMatchObject({ unreadable: false, status: 200 });
    expect(error.message).toContain('at most 1000 bytes');
    expect(await small.send(request(bad.url), patient)).toMatchObject({ status: 503, text: '' });
  });
});

describe('connections', () => {
  test('are reused for the next request', async () => {
    const { url, seen } = await serve(({ response }) => json(response, 200, {}));
    const one = open();
    for (let i = 0; i < 3; i += 1) {
      await one.send(request(url), patient);
      await turns();
    }
    expect(seen.map(({ connection }) => connection)).toEqual([1, 1, 1]);
  });

  test('are new for a fresh request and not reused after it', async () => {
    const { url, seen } = await serve(({ response }) => json(response, 200, {}));
    const one = open();
    for (const fresh of [false, true, true, false]) {
      await one.send(request(url), { ...patient, fresh });
      await turns();
    }
    expect(seen.map(({ connection }) => connection)).toEqual([1, 2, 3, 1]);
  });
});

describe('send', () => {
  test('reports a host without an address', async () => {
    const error = await rejection(open().send(request('http://nowhere.invalid'), patient), NetworkError);
    expect(error).toMatchObject({ fault: 'dns', unsent: true });
    expect(error.message).toContain('nowhere.invalid');
    expect(error.hint).toContain('RUNGATE_API_URL');
  });

  test('reports a connection that is not established within the connect timeout', async () => {
    // The server accepts the TCP connection and never responds to the TLS handshake.
    const host = await tcp(() => {});
    const slow = open({ connectTimeoutMs: 100 });
    const error = await rejection(slow.send(request(`https://${host}`), patient), NetworkError);
    expect(error).toMatchObject({ fault: 'connect', unsent: true });
  });

  test.each<[string, string, string?]>([
    ['a body shorter than its content length', 'HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n{"a"'],
    ['a chunked body without its end', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n'],
    [
      'some chunks, on a connection for one response',
      'HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n',
    ],
    ['half a header', 'HTTP/1.1 200 OK\r\nContent-Le'],
    ['bytes that are not HTTP', 'SSH-2.0-OpenSSH_9.6\r\n', 'sent a response that is not HTTP'],
    [
      'a content length and chunks',
      'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n',
      'sent a response that is not HTTP',
    ],
  ])(
    'reports a connection that is closed after %s',
    async (_, bytes, message = 'broke before the response was complete') => {
      const host = await tcp((socket) => socket.once('data', () => socket.end(bytes)));
      const error = await rejection(open().send(request(`http://${host}`), patient), NetworkError);
      expect(error).toMatchObject({ fault: 'broken', unsent: false });
      expect(error.message).toContain(message);
    },
  );

  test('ends a request with a dripping body at its time limit', async () => {
    const host = await tcp((socket) => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n');
      const drip = setInterval(() => socket.write(' '), 10);
      socket.on('close', () => clearInterval(drip));
    });
    const error = await rejection(open().send(request(`http://${host}`), { timeoutMs: 1000 }), NetworkError);
    expect(error.fault).toBe('broken');
    expect(error.message).toMatch(/^no complete response from \S+ within 1 s$/);
    // Only the caller knows which setting the time comes from.
    expect(error.hint).toBeUndefined();
  });

  test('rejects with the reason of an aborted signal, before and during the request', async () => {
    const { url, seen } = await serve(() => {});
    const one = open();
    await expect(one.send(request(url), { ...patient, signal: AbortSignal.abort('why') })).rejects.toBe(
      'why',
    );
    expect(seen).toEqual([]);
    const stop = new AbortController();
    const sent = one.send(request(url), { ...patient, signal: stop.signal });
    await until(() => seen.length > 0);
    stop.abort('later');
    await expect(sent).rejects.toBe('later');
  });
});

test.each(['Connection: upgrade\r\nUpgrade: websocket\r\n', ''])(
  'a response that switches protocols ends the request immediately: %j',
  async (headers) => {
    const host = await tcp((socket) =>
      socket.once('data', () => socket.write(`HTTP/1.1 101 Switching Protocols\r\n${headers}\r\n`)),
    );
    const error = await rejection(open().send(request(`http://${host}`), patient), NetworkError);
    expect(error).toMatchObject({ fault: 'broken', unsent: false });
    expect(error.message).not.toContain('within');
  },
);

test.each([
  ['closes', (socket: Socket) => socket.end()],
  ['resets', (socket: Socket) => socket.resetAndDestroy()],
  ['sends unexpected data on', (socket: Socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n')],
])('opens one connection for a request if the server %s it', async (_, talk) => {
  for (const scheme of ['http', 'https']) {
    let connections = 0;
    const host = await tcp((socket) => {
      connections += 1;
      talk(socket);
    });
    await rejection(open().send(request(`${scheme}://${host}`), patient), NetworkError);
    expect(connections).toBe(1);
  }
});

describe('close', () => {
  test('ends pending requests and refuses later ones', async () => {
    const { url, seen } = await serve(() => {});
    const one = open();
    const sent = rejection(one.send(request(url), patient), UsageError);
    await until(() => seen.length > 0);
    await one.close();
    expect((await sent).message).toContain('closed');
    await rejection(one.send(request(url), patient), UsageError);
  });
});

describe('redirects', () => {
  const redirecting = (status: number, location: string) =>
    serve(({ seen, response }) => {
      if (seen.url === '/api/x') response.writeHead(status, { location }).end();
      else json(response, 200, { at: seen.url });
    });

  test.each([301, 302, 303, 307, 308])(
    'with %i are followed by a GET within the origin, with the credential',
    async (status) => {
      const { url, seen } = await redirecting(status, '/api/y?z=1');
      const response = await open().send(request(url), patient);
      expect(response).toMatchObject({
        status: 200,
        text: '{"at":"/api/y?z=1"}',
      });
      expect(seen[1]?.headers['x-api-key']).toBe('secret-key');
    },
  );

  test.each([307, 308])('with %i are followed by a POST with the same body', async (status) => {
    const { url, seen } = await redirecting(status, '/api/y');
    await open().send(request(url, { method: 'POST', body: '{"a":1}' }), patient);
    expect(seen).toMatchObject([{ method: 'POST' }, { method: 'POST', url: '/api/y', body: '{"a":1}' }]);
  });

  test.each([301, 302, 303])(
    'with %i are not followed by a POST, which would lose its body',
    async (status) => {
      const { url, seen } = await redirecting(status, '/api/y');
      const error = await rejection(
        open().send(request(url, { method: 'POST', body: '{}' }), patient),
        HttpError,
      );
      expect(error).toMatchObject({ status, code: 'redirect' });
      expect(seen).toHaveLength(1);
    },
  );

  test('to another origin are not followed, so the credential is not sent there', async () => {
    const other = await serve(({ response }) => json(response, 200, {}));
    for (const method of ['GET', 'POST'] as const) {
      for (const status of [302, 307]) {
        const { url } = await redirecting(status, `${other.url}/api/x`);
        const error = await rejection(open().send(request(url, { method }), patient), HttpError);
        expect(error.message).toContain(other.url);
        expect(error.hint).toContain(other.url);
      }
    }
    expect(other.seen).toEqual([]);
  });

  test.each([
    ['another scheme', 'https://127.0.0.1/', 'https://127.0.0.1'],
    ['an invalid URL', 'http://[', 'to an invalid URL'],
  ])('to %s are not followed', async (_, location, named) => {
    const { url } = await redirecting(302, location);
    const error = await rejection(open().send(request(url), patient), HttpError);
    expect(error.message).toContain(named);
  });

  test('are followed five times at most', async () => {
    const { url, seen } = await serve(({ index, response }) => {
      response.writeHead(302, { location: `/api/${index}` }).end();
    });
    const error = await rejection(open().send(request(url), patient), HttpError);
    expect(error.message).toContain('redirects more than 5 times');
    expect(seen).toHaveLength(6);
  });
});

const responseWith = (state: string) =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${state.length + 2}\r\n\r\n"${state}"`;

describe('each request gets its own response', () => {
  test('after an unsolicited response between two requests', async () => {
    let connections = 0;
    let sendUnsolicited: () => void = () => {};
    const host = await tcp((socket) => {
      connections += 1;
      const state = connections === 1 ? 'running' : 'failed';
      socket.on('data', () => socket.write(responseWith(state)));
      if (connections === 1) sendUnsolicited = () => socket.write(responseWith('passed'));
      if (connections === 1) socket.on('close', () => closed.abort());
    });
    const closed = new AbortController();
    const send = open();
    expect((await send.send(request(`http://${host}`), patient)).text).toBe('"running"');
    sendUnsolicited();
    await new Promise<void>((resolve) => closed.signal.addEventListener('abort', () => resolve()));
    expect((await send.send(request(`http://${host}`), patient)).text).toBe('"failed"');
  });

  test('after two responses to one request', async () => {
    const host = await tcp((socket) => {
      let requests = 0;
      socket.on('data', () => {
        requests += 1;
        socket.write(
          requests === 1 ? responseWith('running') + responseWith('passed') : responseWith('failed'),
        );
      });
    });
    const send = open();
    expect((await send.send(request(`http://${host}`), patient)).text).toBe('"running"');
    expect((await send.send(request(`http://${host}`), patient)).text).not.toBe('"passed"');
  });

  test('after a DELETE with a body', async () => {
    const { url, seen } = await serve(({ response }) => json(response, 200, {}));
    const send = open();
    await send.send(request(url, { method: 'DELETE', body: '{"reason":"ä"}' }), patient);
    await send.send(request(url), patient);
    expect(seen).toMatchObject([
      { method: 'DELETE', body: '{"reason":"ä"}', headers: { 'content-length': '15' } },
      { method: 'GET', body: '' },
    ]);
  });
});
