import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { connect, createServer } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { main } from '../../src/cli/main.ts';
import { createCaller } from '../../src/client/caller.ts';
import { api } from '../../src/contract/index.ts';
import { HttpError, NetworkError } from '../../src/errors.ts';
import { memoryIo } from '../cli/harness.ts';
import { rejection } from '../client/rejection.ts';
import { fakeClock } from '../fake-clock.ts';
import { pem, serviceHost, startProxy, startService } from './proxied.ts';
import { json, nobody, serve } from './serve.ts';

const done = JSON.stringify({ state: 'completed', failed: 0, blocked: 0, appUrl: 'https://app.example/r' });
const account = { user: 'us er', password: 'p@ss/w%rd' };
const userinfo = `${encodeURIComponent(account.user)}:${encodeURIComponent(account.password)}`;

/** One status read of `serviceHost`, with the number of tries that were made of it. */
function read(port: number, proxyEnv: Record<string, string>, caPem: string | null = pem('service-ca.pem')) {
  let tries = 0;
  const caller = createCaller({
    apiUrl: `https://${serviceHost}:${port}`,
    apiKey: 'key-1',
    clock: fakeClock(),
    proxyEnv,
    ...(caPem === null ? {} : { caPem }),
    onExchange: (event) => {
      if (event.type === 'try') tries += 1;
    },
  });
  onTestFinished(() => caller.close());
  const reply = caller.exchange('run.status', api['run.status'], { params: { runId: 'run_1' } });
  return { reply, tries: () => tries };
}

test('CONNECT, TLS with a private authority and a credential work together, and connections are kept', async () => {
  const port = await startService((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      request.headers['proxy-authorization'] === undefined ? done : '"the credential was sent on"',
    );
  });
  const proxy = await startProxy(account);
  const caller = createCaller({
    apiUrl: `https://${serviceHost}:${port}`,
    apiKey: 'key-1',
    caPem: pem('service-ca.pem'),
    proxyEnv: { https_proxy: '', HTTPS_PROXY: `http://${userinfo}@127.0.0.1:${proxy.port}` },
  });
  onTestFinished(() => caller.close());
  for (const runId of ['run_1', 'run_2', 'run_3', 'run_4', 'run_5']) {
    const { status } = await caller.exchange('run.status', api['run.status'], { params: { runId } });
    expect(status).toBe(200);
  }
  expect(proxy.asked).toHaveLength(1);
  expect(proxy.asked[0]).toEqual({ target: `${serviceHost}:${port}`, ...account });
});

test('a proxy that wants another credential ends the call at the first try, and it is said to be the proxy', async () => {
  const port = await startService((_, response) => response.end(done));
  const proxy = await startProxy(account);
  const wrong = 'us%20er:wrong-s3cret';
  const { reply, tries } = read(port, { HTTPS_PROXY: `http://${wrong}@127.0.0.1:${proxy.port}` });
  const error = await rejection(reply, HttpError);
  expect(error.status).toBe(407);
  expect(error.message).toContain(`the proxy 127.0.0.1:${proxy.port}`);
  expect(error.hint).toContain('HTTPS_PROXY');
  expect(JSON.stringify({ ...error, message: error.message, hint: error.hint })).not.toContain('s3cret');
  expect(tries()).toBe(1);
});

test('a proxy that is not there is said to be the proxy, and tried again', async () => {
  const { reply, tries } = read(1, { HTTPS_PROXY: (await nobody()).replace('//', '//user:s3cret@') });
  const error = await rejection(reply, NetworkError);
  expect(error).toMatchObject({ fault: 'refused', unsent: true });
  expect(error.message).toContain('the proxy');
  expect(error.message).not.toContain('s3cret');
  expect(error.hint).toContain('HTTPS_PROXY');
  expect(tries()).toBe(4);
});

test('a service that the proxy cannot reach is said to be so', async () => {
  const proxy = await startProxy();
  const port = Number(new URL(await nobody()).port);
  const { reply } = read(port, { HTTPS_PROXY: `127.0.0.1:${proxy.port}` });
  const error = await rejection(reply, NetworkError);
  expect(error).toMatchObject({ fault: 'connect', unsent: true });
  expect(error.message).toMatch(/no connection to service\.rungate\.test:\d+ through the proxy/);
});

test('a proxy that says nothing is given up in time, and leaves no connection behind', async () => {
  const sockets = new Set<unknown>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.resume();
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const caller = createCaller({
    apiUrl: `https://${serviceHost}`,
    apiKey: 'key-1',
    proxyEnv: { HTTPS_PROXY: `127.0.0.1:${(server.address() as AddressInfo).port}` },
  });
  const call = caller.exchange(
    'run.status',
    api['run.status'],
    { params: { runId: 'r' } },
    { requestTimeoutMs: 200, attempts: 1 },
  );
  const error = await rejection(call, NetworkError);
  expect(error.message).toContain('through the proxy');
  await caller.close();
  await expect.poll(() => sockets.size).toBe(0);
});

test.each([
  ['that nobody known has signed', null],
  ['of another authority', 'ca.pem'],
])(
  'a certificate %s ends the call at the first try, through a proxy too, saying what to do',
  async (_, ca) => {
    const port = await startService((_request, response) => response.end(done));
    const proxy = await startProxy();

    const { reply, tries } = read(port, { HTTPS_PROXY: `127.0.0.1:${proxy.port}` }, ca && pem(ca));
    const error = await rejection(reply, NetworkError);
    expect(error.fault).toBe('tls');
    expect(error.message).toContain(serviceHost);
    expect(error.message).not.toContain('proxy');
    expect(error.hint).toContain('--ca-file');
    expect(error.hint).toContain('NODE_EXTRA_CA_CERTS');
    expect(tries()).toBe(1);
  },
);

test('any 2xx of a proxy is a tunnel', async () => {
  const port = await startService((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(done);
  });
  const server = createServer((client) => {
    client.once('data', () => {
      client.write('HTTP/1.1 201 Connection established\r\n\r\n');
      const upstream = connect(port, '127.0.0.1');
      upstream.pipe(client).pipe(upstream);
      for (const socket of [client, upstream]) socket.on('error', () => {});
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const { reply } = read(port, { HTTPS_PROXY: `127.0.0.1:${(server.address() as AddressInfo).port}` });
  expect((await reply).status).toBe(200);
});

test.each([
  ['localhost', 'the name of another machine', 'service'],
  ['127.0.0.1', 'no name for it', 'server'],
])('an https proxy at %s whose certificate has %s is not trusted', async (host, _, cert) => {
  let asked = 0;
  const server = createTlsServer({ key: pem(`${cert}.key`), cert: pem(`${cert}.pem`) });
  server.on('connect', (_request, client) => {
    asked += 1;
    client.destroy();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const HTTPS_PROXY = `https://${host}:${(server.address() as AddressInfo).port}`;
  const { reply, tries } = read(443, { HTTPS_PROXY }, `${pem('ca.pem')}\n${pem('service-ca.pem')}`);
  const error = await rejection(reply, NetworkError);
  expect(error).toMatchObject({ fault: 'tls', unsent: true });
  expect(error.message).toContain('proxy');
  expect([asked, tries()]).toEqual([0, 1]);
});

test('a proxy that sends data of its own through a tunnel is asked once an attempt', async () => {
  let asked = 0;
  const server = createServer((client) => {
    asked += 1;
    client.on('error', () => {});
    client.once('data', () => client.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const caller = createCaller({
    apiUrl: `http://${serviceHost}`,
    insecureHttp: true,
    apiKey: 'key-1',
    clock: fakeClock(),
    proxyEnv: { HTTP_PROXY: `127.0.0.1:${(server.address() as AddressInfo).port}` },
  });
  onTestFinished(() => caller.close());
  const call = caller.exchange('run.status', api['run.status'], { params: { runId: 'run_1' } });
  const error = await rejection(call, NetworkError);
  expect(error).toMatchObject({ fault: 'connect', unsent: true });
  expect(error.message).toContain('through the proxy');
  expect(asked).toBe(4);
});

test('http to another machine goes through CONNECT as well', async () => {
  const { url, seen } = await serve(({ response }) => json(response, 200, JSON.parse(done)));
  const proxy = await startProxy();
  const port = new URL(url).port;
  const caller = createCaller({
    apiUrl: `http://${serviceHost}:${port}`,
    insecureHttp: true,
    apiKey: 'key-1',
    proxyEnv: { HTTP_PROXY: `127.0.0.1:${proxy.port}` },
  });
  onTestFinished(() => caller.close());
  await caller.exchange('run.status', api['run.status'], { params: { runId: 'run_1' } });
  expect(seen[0]).toMatchObject({ url: '/api/ci/runs/run_1' });
  expect(proxy.asked[0]?.target).toBe(`${serviceHost}:${port}`);
});

test('a library looks at no environment that it was not given', async () => {
  const { url } = await serve(({ response }) => json(response, 200, JSON.parse(done)));
  const caller = createCaller({ apiUrl: url, apiKey: 'key-1' });
  onTestFinished(() => caller.close());
  await caller.exchange('run.status', api['run.status'], { params: { runId: 'run_1' } });
});

test('the command line takes proxy, exceptions and authorities from its environment, and shows no credential', async () => {
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
  const { asked } = proxy;
  const before = asked.length;
  await run(userinfo, { NO_PROXY: '.rungate.test' });
  expect(asked.length).toBe(before);
}, 30_000);

test.each([
  'http://someone:s3cret-word@127.0.0.1:1',
  'someone:s3cret-word@127.0.0.1:1',
  'u:a/s3cret-word@127.0.0.1:1',
])('doctor names the proxy without its credential: %s', async (HTTPS_PROXY) => {
  const { io, printed } = memoryIo({ env: { RUNGATE_API_URL: 'http://127.0.0.1:9', HTTPS_PROXY } });
  await main(['doctor'], io);
  const { out, err } = printed();
  expect(out + err).toContain('@127.0.0.1:1');
  expect(out + err).not.toContain('s3cret');
});

test('a proxy that is reached by https works like one by http, and is trusted by the same authorities', async () => {
  const port = await startService((_, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(done);
  });
  const asked: string[] = [];
  const server = createTlsServer({ key: pem('server.key'), cert: pem('server.pem') });
  server.on('connect', (request, client, head) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization']}`);
    const upstream = connect(port, '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.write(head);
      upstream.pipe(client).pipe(upstream);
    });
    for (const socket of [client, upstream]) socket.on('error', () => {});
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const HTTPS_PROXY = `https://u:p@localhost:${(server.address() as AddressInfo).port}`;
  const both = `${pem('ca.pem')}\n${pem('service-ca.pem')}`;
  expect((await read(port, { HTTPS_PROXY }, both).reply).status).toBe(200);
  expect(asked).toEqual([`${serviceHost}:${port} Basic ${Buffer.from('u:p').toString('base64')}`]);

  const untrusted = await rejection(read(port, { HTTPS_PROXY }).reply, NetworkError);
  expect(untrusted.message).toContain('proxy');
  expect(untrusted).toMatchObject({ fault: 'tls', unsent: true });
  expect(asked).toHaveLength(1);
});
