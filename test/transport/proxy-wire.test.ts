import { createServer as createTlsServer } from 'node:https';
import { connect, createServer } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { expect, onTestFinished, test } from 'vitest';
import { createCaller } from '../../src/client/caller.ts';
import { api } from '../../src/contract/index.ts';
import { HttpError, NetworkError } from '../../src/errors.ts';
import { nameInCommands } from '../../src/options/spelling.ts';
import { memoryIo } from '../cli/harness.ts';
import { main } from '../cli/main.ts';
import { rejection } from '../client/rejection.ts';
import { fakeClock } from '../fake-clock.ts';
import { listen } from '../listen.ts';
import { until } from '../until.ts';
import { pem, serviceHost, startProxy, startService } from './proxied.ts';
import { json, serve, unreachableUrl } from './serve.ts';

const done = JSON.stringify({ state: 'completed', failed: 0, blocked: 0, appUrl: 'https://app.example/r' });
const account = { user: 'us er', password: 'p@ss/w%rd' };
const userinfo = `${encodeURIComponent(account.user)}:${encodeURIComponent(account.password)}`;

/** Starts a status read of `serviceHost`; `requests` returns the number of its requests so far. */
function read(port: number, proxyEnv: Record<string, string>, caPem: string | null = pem('service-ca.pem')) {
  let requests = 0;
  const caller = createCaller(
    {
      apiUrl: `https://${serviceHost}:${port}`,
      apiKey: 'key-1',
      clock: fakeClock(),
      proxyEnv,
      ...(caPem === null ? {} : { caPem }),
      onExchange: (event) => {
        if (event.type === 'request') requests += 1;
      },
    },
    nameInCommands,
  );
  onTestFinished(() => caller.close());
  const response = caller.exchange('run.status', api['run.status'], { params: { runId: 'run_1' } });
  return { response, requests: () => requests };
}

test('reuses one CONNECT tunnel with proxy credentials and a private CA for all requests', async () => {
  const port = await startService((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      request.headers['proxy-authorization'] === undefined ? done : '"the credentials were forwarded"',
    );
  });
  const proxy = await startProxy(account);
  const caller = createCaller(
    {
      apiUrl: `https://${serviceHost}:${port}`,
      apiKey: 'key-1',
      caPem: pem('service-ca.pem'),
      proxyEnv: { https_proxy: '', HTTPS_PROXY: `http://${userinfo}@127.0.0.1:${proxy.port}` },
    },
    nameInCommands,
  );
  onTestFinished(() => caller.close());
  for (const runId of ['run_1', 'run_2', 'run_3', 'run_4', 'run_5']) {
    const { status } = await caller.exchange('run.status', api['run.status'], { params: { runId } });
    expect(status).toBe(200);
  }
  expect(proxy.connects).toHaveLength(1);
  expect(proxy.connects[0]).toEqual({ target: `${serviceHost}:${port}`, ...account });
});

test('names the proxy that rejects the credentials and does not retry', async () => {
  const port = await startService((_, response) => response.end(done));
  const proxy = await startProxy(account);
  const wrong = 'us%20er:wrong-s3cret';
  const { response, requests } = read(port, { HTTPS_PROXY: `http://${wrong}@127.0.0.1:${proxy.port}` });
  const error = await rejection(response, HttpError);
  expect(error.status).toBe(407);
  expect(error.message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
  expect(error.hint).toContain('HTTPS_PROXY');
  expect(JSON.stringify({ ...error, message: error.message, hint: error.hint })).not.toContain('s3cret');
  expect(requests()).toBe(1);
});

test('names the proxy that cannot be reached and retries', async () => {
  const { response, requests } = read(1, {
    HTTPS_PROXY: (await unreachableUrl()).replace('//', '//user:s3cret@'),
  });
  const error = await rejection(response, NetworkError);
  expect(error).toMatchObject({ fault: 'refused', unsent: true });
  expect(error.message).toContain('the proxy');
  expect(error.message).not.toContain('s3cret');
  expect(error.hint).toContain('HTTPS_PROXY');
  expect(requests()).toBe(4);
});

test('gives up on a proxy that does not respond in time and closes its connection', async () => {
  const sockets = new Set<unknown>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.resume();
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const caller = createCaller(
    {
      apiUrl: `https://${serviceHost}`,
      apiKey: 'key-1',
      proxyEnv: { HTTPS_PROXY: `127.0.0.1:${await listen(server)}` },
    },
    nameInCommands,
  );
  const call = caller.exchange(
    'run.status',
    api['run.status'],
    { params: { runId: 'r' } },
    { requestTimeoutMs: 200, maxRequests: 1 },
  );
  const error = await rejection(call, NetworkError);
  expect(error.message).toContain('through the proxy');
  await caller.close();
  await until(() => sockets.size === 0);
});

test.each([
  ['localhost', 'is for another host', 'service'],
  ['127.0.0.1', 'does not list this address', 'server'],
])('rejects an https proxy at %s whose certificate %s', async (host, _, cert) => {
  let connects = 0;
  const server = createTlsServer({ key: pem(`${cert}.key`), cert: pem(`${cert}.pem`) });
  server.on('connect', (_request, client) => {
    connects += 1;
    client.destroy();
  });
  const HTTPS_PROXY = `https://${host}:${await listen(server)}`;
  const { response, requests } = read(443, { HTTPS_PROXY }, `${pem('ca.pem')}\n${pem('service-ca.pem')}`);
  const error = await rejection(response, NetworkError);
  expect(error).toMatchObject({ fault: 'tls', unsent: true });
  expect(error.message).toContain('proxy');
  expect([connects, requests()]).toEqual([0, 1]);
});

test('uses CONNECT for http to another machine, too', async () => {
  const { url, seen } = await serve(({ response }) => json(response, 200, JSON.parse(done)));
  const proxy = await startProxy();
  const port = new URL(url).port;
  const caller = createCaller(
    {
      apiUrl: `http://${serviceHost}:${port}`,
      insecureHttp: true,
      apiKey: 'key-1',
      proxyEnv: { HTTP_PROXY: `127.0.0.1:${proxy.port}` },
    },
    nameInCommands,
  );
  onTestFinished(() => caller.close());
  await caller.exchange('run.status', api['run.status'], { params: { runId: 'run_1' } });
  expect(seen[0]).toMatchObject({ url: '/api/ci/runs/run_1' });
  expect(proxy.connects[0]?.target).toBe(`${serviceHost}:${port}`);
});

test('the command line reads proxy, exceptions and CAs from its environment and does not show credentials', async () => {
  const port = await startService((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(done);
  });
  const proxy = await startProxy(account);
  const run = async (user: string, more: Record<string, string> = {}) => {
    const { io, printed } = memoryIo({
      env: {
        RUNGATE_API_URL: `https://${serviceHost}:${port}`,
        RUNGATE_API_KEY: 'key-hunter22',
        HTTPS_PROXY: `${user}@127.0.0.1:${proxy.port}`,
        ...more,
      },
      files: { '/ca.pem': pem('service-ca.pem') },
    });
    const code = await main(['run', 'wait', 'run_1', '-v', '--ca-file', '/ca.pem'], io);
    return { code, ...printed() };
  };
  const good = await run(userinfo);
  expect(good).toMatchObject({ code: 0 });
  const bad = await run('someone:wrong-s3cret');
  expect(bad.code).not.toBe(0);
  expect(bad.err).toContain('the proxy');
  const all = good.out + good.err + bad.out + bad.err;
  for (const secret of [account.password, encodeURIComponent(account.password), 'wrong-s3cret']) {
    expect(all).not.toContain(secret);
  }
  const { connects } = proxy;
  const before = connects.length;
  await run(userinfo, { NO_PROXY: '.rungate.test' });
  expect(connects.length).toBe(before);
});

test('doctor shows a proxy without its credentials', async () => {
  const HTTPS_PROXY = 'u:a/s3cret-word@127.0.0.1:1';
  const { io, printed } = memoryIo({ env: { RUNGATE_API_URL: 'http://127.0.0.1:9', HTTPS_PROXY } });
  await main(['doctor'], io);
  const { out, err } = printed();
  expect(out + err).toContain('@127.0.0.1:1');
  expect(out + err).not.toContain('s3cret');
});

test('uses an https proxy and verifies its certificate with the same CAs', async () => {
  const port = await startService((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(done);
  });
  const connects: string[] = [];
  const server = createTlsServer({ key: pem('server.key'), cert: pem('server.pem') });
  server.on('connect', (request, client, head) => {
    connects.push(`${request.url} ${request.headers['proxy-authorization']}`);
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  const HTTPS_PROXY = `https://u:p@localhost:${await listen(server)}`;
  const both = `${pem('ca.pem')}\n${pem('service-ca.pem')}`;
  expect((await read(port, { HTTPS_PROXY }, both).response).status).toBe(200);
  expect(connects).toEqual([`${serviceHost}:${port} Basic ${Buffer.from('u:p').toString('base64')}`]);

  const untrusted = await rejection(read(port, { HTTPS_PROXY }).response, NetworkError);
  expect(untrusted.message).toContain('proxy');
  expect(untrusted).toMatchObject({ fault: 'tls', unsent: true });
  expect(connects).toHaveLength(1);
});

test('shows neither the client certificate nor the extra headers to a proxy', async () => {
  const subjectOf = (socket: unknown) => (socket as TLSSocket).getPeerCertificate().subject?.CN;
  const service = createTlsServer(
    {
      ...{ key: pem('service.key'), cert: pem('service.pem'), ca: pem('ca.pem') },
      requestCert: true,
    },
    (request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(request.headers['x-gate'] === 'pass' ? done : '"without the header"');
    },
  );
  const servicePort = await listen(service);
  const connects: { headers: readonly string[]; certificate: unknown }[] = [];
  const tls = { key: pem('server.key'), cert: pem('server.pem'), ca: pem('ca.pem') };
  const proxy = createTlsServer({ ...tls, requestCert: true, rejectUnauthorized: false });
  proxy.on('connect', (request, client, head) => {
    connects.push({ headers: Object.keys(request.headers), certificate: subjectOf(request.socket) });
    const upstream = connect(servicePort, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  const caller = createCaller(
    {
      apiUrl: `https://${serviceHost}:${servicePort}`,
      apiKey: 'key-1',
      caPem: `${pem('ca.pem')}\n${pem('service-ca.pem')}`,
      certPem: pem('server.pem'),
      keyPem: pem('server.key'),
      headers: { 'X-Gate': 'pass' },
      proxyEnv: { HTTPS_PROXY: `https://localhost:${await listen(proxy)}` },
    },
    nameInCommands,
  );
  onTestFinished(() => caller.close());
  const { value } = await caller.exchange('run.status', api['run.status'], { params: { runId: 'r' } });
  expect(value).toEqual(JSON.parse(done));
  expect(connects).toEqual([{ headers: expect.not.arrayContaining(['x-gate']), certificate: undefined }]);
});
