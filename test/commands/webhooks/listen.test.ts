import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { Agent, createServer, type IncomingHttpHeaders, request } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer } from 'node:net';
import { networkInterfaces, tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import type { StopSignal } from '../../../src/errors.ts';
import { cli, memoryIo, type Result, type Settings } from '../../cli/harness.ts';
import { fakeClock } from '../../fake-clock.ts';
import { json, serve, unreachableUrl } from '../../transport/serve.ts';
import { until } from '../../until.ts';

const secret = 'whook-Secret-0123456789';
/** Two minutes before the clock of the tests. */
const timestamp = '2026-01-15T11:58:00.000Z';
const env = { RUNGATE_WEBHOOK_SECRET: secret };

const sign = (body: string | Uint8Array, key = secret, time = timestamp) =>
  `sha256=${createHmac('sha256', key).update(`${time}.`).update(body).digest('hex')}`;

let folder: string;
let running: Listening[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-listen-'));
});
afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
  rmSync(folder, { recursive: true, force: true });
});

interface Listening {
  url: string;
  out(): string;
  err(): string;
  stop(signal?: StopSignal): Promise<Result>;
  /** Resolves once so many lines are on stdout. */
  lines(count: number): Promise<string[]>;
}

/** Listens in this process, on a free port and on the clock of the tests. */
async function listen(argv: readonly string[] = [], settings: Settings = {}): Promise<Listening> {
  let stop: (signal: StopSignal) => void = () => {};
  const { io, printed } = memoryIo({
    env,
    clock: fakeClock(),
    ...settings,
    onStop: (given) => {
      stop = given;
    },
  });
  const ended = main(['webhooks', 'listen', '--port', '0', ...argv], io);
  const announced = () => /listening at (\S+);/.exec(printed().err)?.[1];
  await Promise.race([
    until(announced),
    ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${printed().err}`))),
  ]);
  const url = announced() ?? '';
  const one: Listening = {
    url,
    out: () => printed().out,
    err: () => printed().err,
    async stop(signal = 'SIGTERM') {
      stop(signal);
      return { code: await ended, ...printed() };
    },
    async lines(count) {
      const all = () => printed().out.split('\n').slice(0, -1);
      await until(() => all().length >= count);
      return all();
    },
  };
  running.push(one);
  return one;
}

interface Reply {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends exactly these headers, in this order and spelling. */
function send(
  url: string,
  body: string | Uint8Array,
  headers: Record<string, string | string[]> = {},
  method = 'POST',
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers, agent: false }, async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: Buffer.concat(chunks).toString(),
      });
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

const deliver = (url: string, body: string | Uint8Array, more: Record<string, string> = {}) =>
  send(url, body, { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': sign(body), ...more });

const body = '{"type":"run.completed","name":"Zoë"}';

describe('webhooks listen shows each delivery', () => {
  it('as tab-separated values: time, event, size, verdict, what the target answered', async () => {
    const on = await listen();
    expect(await deliver(on.url, body)).toMatchObject({ status: 204, body: '' });
    expect(await on.lines(1)).toEqual([
      `2026-01-15T12:00:00.000Z\trun.completed\t${Buffer.byteLength(body)}\tauthentic\t-`,
    ]);
  });

  it('as JSON, whatever the secret is', async () => {
    const on = await listen(['--json'], { env: { RUNGATE_WEBHOOK_SECRET: 'null\n1234' } });
    await deliver(on.url, 'x'.repeat(1234));
    const [line = ''] = await on.lines(1);
    expect(JSON.parse(line)).toMatchObject({ event: null, bytes: '***', verdict: 'mismatch' });
  });

  it('as one line of JSON', async () => {
    const on = await listen(['--json']);
    await deliver(on.url, body);
    const [line = ''] = await on.lines(1);
    expect(JSON.parse(line)).toEqual({
      schemaVersion: 1,
      time: '2026-01-15T12:00:00.000Z',
      event: 'run.completed',
      bytes: Buffer.byteLength(body),
      verdict: 'authentic',
      timestamp,
      ageSeconds: 120,
      secret: 'webhook',
      secretIndex: 0,
      forward: null,
      status: 204,
      file: null,
    });
  });

  it('for a person on a terminal', async () => {
    const on = await listen([], { isTTY: true, env: { ...env, NO_COLOR: '1' } });
    await deliver(on.url, body);
    const [line = ''] = await on.lines(1);
    expect(line).toMatch(/^12:00:00 {2}run\.completed +38 B {2}authentic +answered 204$/);
  });

  it.each([
    ['{"event":"a","type":"b"}', 'a'],
    ['{"eventType":"c"}', 'c'],
    ['{"event":7,"type":"d"}', 'd'],
    ['{"event":""}', '-'],
    ['["event"]', '-'],
    ['null', '-'],
    ['not JSON', '-'],
    ['', '-'],
  ])('the event of %s is %s', async (text, event) => {
    const on = await listen();
    await deliver(on.url, text);
    expect((await on.lines(1))[0]?.split('\t')[1]).toBe(event);
  });

  it('hostile text cannot command a terminal or a CI', async () => {
    const on = await listen();
    await deliver(
      on.url,
      JSON.stringify({ event: `\u001b[2J\n::error::\u202ex##vso[task]${'y'.repeat(500)}` }),
    );
    const [line = ''] = await on.lines(1);
    expect(on.out().split('\n')).toHaveLength(2);
    expect(line).not.toMatch(/[\u001b\u202e]|##vso/);
    expect(line.length).toBeLessThan(200);
  });
});

describe('webhooks listen refuses what is not authentic', () => {
  it.each<[string, Record<string, string | string[]>, string]>([
    [
      'mismatch',
      { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': sign(body, 'other') },
      'another secret',
    ],
    ['missing_header', { 'X-Service-Timestamp': timestamp }, 'no signature'],
    ['malformed_timestamp', { 'X-Service-Timestamp': '1', 'X-Service-Signature': sign(body) }, 'Unix time'],
    [
      'duplicate_header',
      { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': [sign(body), sign(body)] },
      'two',
    ],
    [
      'too_old',
      {
        'X-Service-Timestamp': '2026-01-15T11:54:59Z',
        'X-Service-Signature': sign(body, secret, '2026-01-15T11:54:59Z'),
      },
      'old',
    ],
    [
      'too_new',
      {
        'X-Service-Timestamp': '2026-01-15T12:01:01Z',
        'X-Service-Signature': sign(body, secret, '2026-01-15T12:01:01Z'),
      },
      'ahead',
    ],
  ])('%s with 401, without reading its event', async (code, headers) => {
    const target = await serve(({ response }) => json(response, 200, {}));
    const on = await listen(['--forward-to', target.url]);
    expect(await send(on.url, body, headers)).toMatchObject({ status: 401 });
    expect((await on.lines(1))[0]).toBe(
      `2026-01-15T12:00:00.000Z\t-\t${Buffer.byteLength(body)}\t${code}\t-`,
    );
    expect(target.seen).toHaveLength(0);
  });

  it('by the tolerance that is given, and the names and secrets that are set', async () => {
    const on = await listen(
      ['--tolerance', '1m', '--timestamp-header', 'X-T', '--signature-header', 'X-S', '--json'],
      { env: { RUNGATE_WEBHOOK_SECRET: secret, RUNGATE_TENANT_SECRET: 'tenant-secret-1' } },
    );
    await send(on.url, body, { 'x-t': timestamp, 'X-S': sign(body, 'tenant-secret-1') });
    const fresh = '2026-01-15T11:59:30Z';
    await send(on.url, body, { 'x-t': fresh, 'X-S': sign(body, 'tenant-secret-1', fresh) });
    const verdicts = (await on.lines(2)).map((line) => JSON.parse(line));
    expect(verdicts).toMatchObject([{ verdict: 'too_old' }, { verdict: 'authentic', secret: 'tenant' }]);
  });

  it('405 for what is no POST', async () => {
    const on = await listen();
    const reply = await send(on.url, '', {}, 'GET');
    expect(reply).toMatchObject({ status: 405, headers: { allow: 'POST' } });
    expect(on.out()).toBe('');
    expect(on.err()).toMatch(/a GET was answered with 405/);
  });

  it('413 for a body over 10 MiB, by its length or by what comes', async () => {
    const on = await listen(['--save', folder]);
    const stated = connect(Number(new URL(on.url).port), '127.0.0.1');
    stated.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10485761\r\n\r\n');
    const answer = await new Promise<string>((resolve) =>
      stated.once('data', (data) => resolve(String(data))),
    );
    stated.destroy();
    expect(answer).toMatch(/^HTTP\/1\.1 413 /);
    const chunked = connect(Number(new URL(on.url).port), '127.0.0.1');
    chunked.on('error', () => {});
    chunked.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nb00000\r\n');
    chunked.write(Buffer.alloc(0xb00000));
    const lines = await on.lines(2);
    chunked.destroy();
    expect(lines.map((line) => line.split('\t')[3])).toEqual(['too_large', 'too_large']);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('webhooks listen has room for 32 MiB at once', () => {
  it('answers 503 beyond that, and takes deliveries again when there is room', async () => {
    const on = await listen();
    const port = Number(new URL(on.url).port);
    const part = Buffer.alloc(9 * 1024 * 1024);
    const head = `POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${part.length + 1}\r\n\r\n`;
    const held = Array.from({ length: 4 }, () => connect(port, '127.0.0.1'));
    for (const socket of held) {
      socket.on('error', () => {});
      socket.write(head);
      socket.write(part);
    }
    const answered = Promise.race(
      held.map(
        (socket) => new Promise<string>((resolve) => socket.once('data', (data) => resolve(String(data)))),
      ),
    );
    expect(await answered).toMatch(/^HTTP\/1\.1 503 /);
    expect((await on.lines(1))[0]).toMatch(/\ttoo_many\t-$/);
    for (const socket of held) socket.destroy();
    await vi.waitUntil(async () => (await deliver(on.url, body)).status === 204);
  });
});

describe('webhooks listen without a secret', () => {
  it('shows deliveries as not verified, says so loudly, and decodes nothing', async () => {
    const on = await listen(['--json'], { env: {} });
    expect(on.err()).toMatch(/NOT VERIFIED: no webhook secret is set.*RUNGATE_WEBHOOK_SECRET/);
    expect(await deliver(on.url, body)).toMatchObject({ status: 204 });
    expect(JSON.parse((await on.lines(1))[0] ?? '')).toMatchObject({
      verdict: 'not_verified',
      event: null,
      secret: null,
    });
  });

  it('forwards only when --forward-unverified says so: else 78, which names the variables', async () => {
    const target = await serve(({ response }) => json(response, 201, {}));
    const refused = await cli(['webhooks', 'listen', '--forward-to', target.url], { env: {} });
    expect(refused).toMatchObject({ code: 78, out: '' });
    expect(refused.err).toMatch(/RUNGATE_WEBHOOK_SECRET[\s\S]*--forward-unverified/);
    const on = await listen(['--forward-to', target.url, '--forward-unverified'], { env: {} });
    expect(await send(on.url, body)).toMatchObject({ status: 201 });
    expect((await on.lines(1))[0]).toMatch(/\tnot_verified\t201$/);
  });
});

describe('webhooks listen --forward-to', () => {
  const rawServer = async () => {
    const seen: { rawHeaders: string[]; body: Buffer; url: string }[] = [];
    const server = createServer(async (incoming, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of incoming) chunks.push(chunk);
      seen.push({ rawHeaders: incoming.rawHeaders, body: Buffer.concat(chunks), url: incoming.url ?? '' });
      response.writeHead(202, ['X-Answer', 'a', 'x-answer', 'b', 'Connection', 'close, X-Hop', 'X-Hop', '1']);
      response.end('thanks ☕');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    return { seen, port, url: `http://127.0.0.1:${port}`, close: () => server.close() };
  };

  it('sends bytes and headers on unchanged but for those of the connection, and answers as the target', async () => {
    const target = await rawServer();
    const on = await listen(['--forward-to', `${target.url}/hook?a=b`]);
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]);
    const reply = await send(on.url, bytes, {
      'X-Service-Timestamp': timestamp,
      'x-SERVICE-signature': sign(bytes),
      'X-Twice': ['1', '2'],
      'X-Latin': 'caf\u00e9',
      'Keep-Alive': 'timeout=5',
      'X-Mine': 'hop',
      Connection: 'close, x-mine',
    });
    expect(reply).toMatchObject({ status: 202, body: 'thanks ☕' });
    expect(reply.headers).toMatchObject({ 'x-answer': 'a, b' });
    expect(reply.headers).not.toHaveProperty('x-hop');
    const [got] = target.seen;
    expect(got?.url).toBe('/hook?a=b');
    expect(got?.body).toEqual(bytes);
    expect(got?.rawHeaders).toEqual([
      'Host',
      `127.0.0.1:${target.port}`,
      'X-Service-Timestamp',
      timestamp,
      'x-SERVICE-signature',
      sign(bytes),
      'X-Twice',
      '1',
      'X-Twice',
      '2',
      'X-Latin',
      'caf\u00e9',
      'Content-Length',
      '6',
      'Connection',
      'close',
    ]);
    expect((await on.lines(1))[0]).toMatch(/\tauthentic\t202$/);
    target.close();
  });

  it('does not follow a redirect of the target', async () => {
    const target = await serve(({ response }) => response.writeHead(307, { Location: '/elsewhere' }).end());
    const on = await listen(['--forward-to', target.url]);
    expect(await deliver(on.url, body)).toMatchObject({ status: 307, headers: { location: '/elsewhere' } });
    expect(target.seen).toHaveLength(1);
  });

  it.each([
    ['HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n'],
    ['HTTP/1.1 000 None\r\nContent-Length: 0\r\n\r\n'],
    ['HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'],
    ['HTTP/1.1 101 Switching Protocols\r\n\r\n'],
    ['HTTP/1.1 200 OK\r\nX-Odd: a\u0001b\r\nContent-Length: 0\r\n\r\n'],
    ['HTTP/1.1 200 OK\r\nX-Odd: a\u007fb\r\nContent-Length: 0\r\n\r\n'],
    ['HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc'],
    ['nonsense'],
  ])('answers 502 for %j, and goes on', async (raw) => {
    const target = createTcpServer((socket) => {
      socket.on('error', () => {}).once('data', () => socket.end(raw));
    });
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    const { port } = target.address() as { port: number };
    const on = await listen(['--forward-to', `http://127.0.0.1:${port}`]);
    expect(await deliver(on.url, body)).toMatchObject({ status: 502 });
    expect(await deliver(on.url, body)).toMatchObject({ status: 502 });
    target.close();
  });

  it('that leads back under another name ends with the first delivery, which gets 508', async () => {
    const relay = createTcpServer();
    await new Promise<void>((resolve) => relay.listen(0, '127.0.0.1', resolve));
    const { port } = relay.address() as { port: number };
    await new Promise((resolve) => relay.close(resolve));
    // An address of this machine that is not a loopback address, where there is one.
    const address = Object.values(networkInterfaces())
      .flatMap((all) => all ?? [])
      .find(({ family, internal }) => family === 'IPv4' && !internal)?.address;
    if (address === undefined) return;
    const argv = ['--host', '0.0.0.0', '--port', String(port), '--forward-to', `http://${address}:${port}/`];
    const on = await listen(argv);
    const reply = await deliver(`http://127.0.0.1:${port}`, body);
    expect(reply.status).toBe(508);
    expect(on.err()).toContain('--forward-to leads back here');
    expect(await on.lines(1)).toEqual([expect.stringMatching(/\tauthentic\t508$/)]);
  });

  const hasIpv6 = Object.values(networkInterfaces()).some((all) =>
    all?.some(({ address }) => address === '::1'),
  );

  it.each([
    ['127.0.0.1', 'localhost'],
    ['127.0.0.1', 'LOCALHOST'],
    ['127.0.0.1', '127.0.0.1'],
    ['127.0.0.1', '127.1'],
    ['127.0.0.1', '0x7f000001'],
    ['127.0.0.1', '0.0.0.0'],
    ['127.0.0.1', '0'],
    ['127.0.0.1', '[::ffff:127.0.0.1]'],
    ['127.0.0.1', '[::ffff:7f00:1]'],
    ['127.0.0.1', '[::ffff:0.0.0.0]'],
    ...(hasIpv6 ? [['::1', '[::1]'] as const, ['::', '[::]'] as const, ['::', '127.0.0.1'] as const] : []),
  ] as const)('on %s gets 508 from itself as the target, spelled %s', async (host, target) => {
    const { port } = new URL(await unreachableUrl());
    const on = await listen(['--host', host, '--port', port, '--forward-to', `http://${target}:${port}/x`]);
    expect(await deliver(on.url.replace('[::]', '[::1]'), body)).toMatchObject({ status: 508 });
    expect(on.err()).toContain('--forward-to leads back here');
  });

  it('answers 502 where nobody listens, or the target breaks off', async () => {
    const broken = await serve(({ socket }) => socket.destroy());
    for (const [url, fault] of [
      [await unreachableUrl(), 'refused'],
      [broken.url, 'broken off'],
    ]) {
      const on = await listen(['--forward-to', url ?? '', '--json']);
      const reply = await deliver(on.url, body);
      expect(reply).toMatchObject({ status: 502, body: expect.stringContaining(String(fault)) });
      expect(JSON.parse((await on.lines(1))[0] ?? '')).toMatchObject({
        forward: { status: null, fault },
        status: 502,
      });
    }
  });

  it('to https with an own CA, and never to a certificate that nobody vouches for', async () => {
    const pem = (name: string) =>
      readFileSync(new URL(`../../transport/tls/${name}`, import.meta.url), 'utf8');
    const target = createTlsServer(
      { key: pem('server.key'), cert: pem('server.pem') },
      (_request, response) => response.end('safe'),
    );
    await new Promise<void>((resolve) => target.listen(0, '127.0.0.1', resolve));
    const url = `https://localhost:${(target.address() as { port: number }).port}/`;
    const files = { 'ca.pem': pem('ca.pem') };
    const trusting = await listen(['--forward-to', url, '--ca-file', 'ca.pem'], { files });
    expect(await deliver(trusting.url, body)).toMatchObject({ status: 200, body: 'safe' });
    const wary = await listen(['--forward-to', url]);
    expect(await deliver(wary.url, body)).toMatchObject({ status: 502 });
    expect((await wary.lines(1))[0]).toMatch(/UNABLE_TO_VERIFY|SELF_SIGNED|UNABLE_TO_GET/);
    expect((await cli(['webhooks', 'listen', '--forward-to', url, '--ca-file', 'gone'], { env })).code).toBe(
      78,
    );
    target.closeAllConnections();
    target.close();
  });

  it('--forward-unverified sends on what is not authentic too, and warns', async () => {
    const target = await serve(({ response }) => json(response, 200, {}));
    const on = await listen(['--forward-to', target.url, '--forward-unverified']);
    expect(on.err()).toMatch(/what is not authentic is forwarded too/);
    expect(await send(on.url, body)).toMatchObject({ status: 200 });
    expect((await on.lines(1))[0]).toMatch(/\tmissing_header\t200$/);
  });
});

describe('webhooks listen --save', () => {
  const verifyFile = (file: string, settings: Settings = {}) =>
    cli(['webhooks', 'verify', '--request-file', file, '--json'], {
      env,
      files: { [file]: readFileSync(file) },
      ...settings,
    });

  it('keeps each as the request that it was, for its owner alone, and verify reads it back', async () => {
    const path = join(folder, 'new', 'deep');
    const on = await listen(['--save', path, '--json']);
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]);
    const big = Buffer.alloc(1_000_000, 'x\r\n');
    await deliver(`${on.url}/hook?x=1`, bytes, { 'X-Latin': 'caf\u00e9' });
    await deliver(on.url, big);
    await deliver(on.url, '');
    await deliver(on.url, body, { 'Transfer-Encoding': 'chunked' });
    await send(on.url, body, { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': sign('else') });
    const files = (await on.lines(5)).map((line) => String(JSON.parse(line).file));
    const names = ['1', '2', '3', '4', '5'].map((n) => `20260115T120000.000Z-000${n}.http`);
    expect(readdirSync(path).toSorted()).toEqual(names);
    expect(files).toEqual(names.map((name) => join(path, name)));
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual([0o600, 0o600, 0o600, 0o600, 0o600]);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    const [first = '', ...others] = files;
    const text = readFileSync(first);
    expect(text.toString('latin1')).toMatch(/^POST \/hook\?x=1 HTTP\/1\.1\r\n(?:[^\r\n]+\r\n)+\r\n/);
    expect(text.toString('latin1')).toContain('\r\nX-Latin: caf\u00e9\r\n');
    expect(text.subarray(-6)).toEqual(bytes);
    const found = [];
    for (const file of [first, ...others]) found.push(JSON.parse((await verifyFile(file)).out));
    expect(found.map(({ authentic }) => authentic)).toEqual([true, true, true, true, false]);
    expect(found.map(({ bytes: size }) => size)).toEqual([
      6,
      big.length,
      0,
      Buffer.byteLength(body),
      Buffer.byteLength(body),
    ]);
  });

  it('keeps 1000 of those that are not authentic, says so, and every authentic one', async () => {
    const on = await listen(['--save', folder]);
    const agent = new Agent({ keepAlive: true });
    const forged = () =>
      new Promise<void>((resolve, reject) => {
        const sent = request(on.url, { method: 'POST', agent }, (response) => {
          response.resume().once('end', () => resolve());
        });
        sent.once('error', reject);
        sent.end('{}');
      });
    for (let count = 0; count < 1005; count += 1) await forged();
    await deliver(on.url, body);
    await on.lines(1006);
    agent.destroy();
    expect(readdirSync(folder)).toHaveLength(1001);
    expect(on.err().match(/not kept: 1000 files or 100 MiB/g)).toHaveLength(1);
  });

  it('keeps 100 MiB of those that are not authentic', async () => {
    const on = await listen(['--save', folder]);
    for (let count = 0; count < 11; count += 1) await send(on.url, Buffer.alloc(10 * 1024 * 1024 - 1));
    await on.lines(11);
    expect(readdirSync(folder)).toHaveLength(9);
  });

  it('writes over nothing', async () => {
    const name = '20260115T120000.000Z-0001.http';
    writeFileSync(join(folder, name), 'mine');
    const on = await listen(['--save', folder]);
    await deliver(on.url, body);
    expect((await on.lines(1))[0]).toMatch(/-0002\.http$/);
    expect(readFileSync(join(folder, name), 'utf8')).toBe('mine');
  });

  it('a file that cannot be written is said, and the delivery goes on', async () => {
    const on = await listen(['--save', join(folder, 'gone')]);
    rmSync(join(folder, 'gone'), { recursive: true });
    expect(await deliver(on.url, body)).toMatchObject({ status: 204 });
    expect((await on.lines(1))[0]).toMatch(/\tauthentic\t-$/);
    expect(on.err()).toMatch(/not kept: .* cannot be written \(ENOENT\)/);
  });
});

describe('webhooks listen ends', () => {
  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
    ['SIGHUP', 129],
  ] as const)('%s with %i, whatever is open', async (signal, code) => {
    const target = await serve(() => {});
    const on = await listen(['--forward-to', target.url]);
    const idle = connect(Number(new URL(on.url).port), '127.0.0.1');
    idle.on('error', () => {});
    const half = connect(Number(new URL(on.url).port), '127.0.0.1');
    half.on('error', () => {});
    half.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
    const waiting = deliver(on.url, body).catch(() => 'broken off');
    await until(() => target.seen.length > 0);
    expect((await on.stop(signal)).code).toBe(code);
    expect(await waiting).toBe('broken off');
    await expect(deliver(on.url, body)).rejects.toThrow(/ECONNREFUSED/);
  });

  it('when nobody reads any more: that is no error', async () => {
    const { io } = memoryIo({ env, clock: fakeClock(), closed: true });
    const { port } = new URL(await unreachableUrl());
    const ended = main(['webhooks', 'listen', '--port', port], io);
    await vi.waitFor(() => deliver(`http://127.0.0.1:${port}`, body), { timeout: 10_000, interval: 5 });
    expect(await ended).toBe(0);
  });
});

describe('webhooks listen: a mistake in the call is said before anything is received', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['a port that is none', ['--port', '70000'], /65535/],
    ['an empty host', ['--host', ''], /--host is empty/],
    ['a target that is no URL', ['--forward-to', 'localhost:3000/x y'], /--forward-to/],
    ['a target without a scheme', ['--forward-to', '3000'], /not a URL/],
    ['a target of another scheme', ['--forward-to', 'ftp://x/'], /ftp: is not http/],
    ['a target with a password', ['--forward-to', 'http://u:hunter22@x/'], /has a password/],
    ['--forward-unverified alone', ['--forward-unverified'], /add --forward-to/],
    ['a tolerance of 0', ['--tolerance', '0'], /above 0/],
    ['a folder that is a file', ['--save', '/etc/hostname/x'], /cannot be made/],
  ])('%s is 64', async (_what, argv, message) => {
    const { code, out, err } = await cli(['webhooks', 'listen', '--port', '0', ...argv], { env });
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toContain('hunter22');
  });

  it('a port that is taken is 78, and so is an address of another machine', async () => {
    const taken = await serve(() => {});
    const { port } = new URL(taken.url);
    const first = await cli(['webhooks', 'listen', '--port', port], { env });
    expect(first).toMatchObject({ code: 78, out: '' });
    expect(first.err).toMatch(/already taken[\s\S]*--port 0/);
    expect((await cli(['webhooks', 'listen', '--port', '0', '--host', '192.0.2.1'], { env })).code).toBe(78);
  });

  it('an address that others can reach is warned of', async () => {
    const on = await listen(['--host', '0.0.0.0']);
    expect(on.err()).toMatch(/warning: listening on 0\.0\.0\.0: others than this machine/);
  });
});
