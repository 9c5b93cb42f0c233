import { createHmac } from 'node:crypto';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, request } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cli, type Settings } from '../../cli/harness.ts';
import { fakeClock } from '../../fake-clock.ts';
import { listen as listenOnFreePort } from '../../listen.ts';
import { json, serve } from '../../transport/serve.ts';
import { startListening } from '../listening.ts';

const secret = 'whook-Secret-0123456789';
/** Two minutes before the time of the fake clock. */
const timestamp = '2026-01-15T11:58:00.000Z';
const env = { RUNGATE_WEBHOOK_SECRET: secret };

const sign = (body: string | Uint8Array, key = secret, time = timestamp) =>
  `sha256=${createHmac('sha256', key).update(`${time}.`).update(body).digest('hex')}`;

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-listen-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Listens with the fake clock. */
const listen = (argv: readonly string[] = [], settings: Settings = {}) =>
  startListening(['webhooks', 'listen', ...argv], { env, clock: fakeClock(), ...settings });

interface SenderResponse {
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Sends exactly these headers, in this order and case. */
function send(
  url: string,
  body: string | Uint8Array,
  headers: Record<string, string | string[]> = {},
  method = 'POST',
): Promise<SenderResponse> {
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

describe('the output of webhooks listen', () => {
  it('has time, event, size, verdict and target status as tab-separated values', async () => {
    const on = await listen();
    expect(await deliver(on.url, body)).toMatchObject({ status: 204, body: '' });
    expect(await on.lines(1)).toEqual([
      `2026-01-15T12:00:00.000Z\trun.completed\t${Buffer.byteLength(body)}\tauthentic\t-`,
    ]);
  });

  it('has the event in the body, or a dash', async () => {
    const on = await listen();
    for (const text of ['{"event":"a","type":"b"}', '{"event":7,"eventType":"d"}', 'null', 'not JSON'])
      await deliver(on.url, text);
    expect((await on.lines(4)).map((line) => line.split('\t')[1])).toEqual(['a', 'd', '-', '-']);
  });

  it('escapes control characters and CI commands of the sender', async () => {
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

describe('webhooks listen refuses', () => {
  it.each<[string, Record<string, string | string[]>, string]>([
    [
      'mismatch',
      { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': sign(body, 'other') },
      'another secret',
    ],
    [
      'too_old',
      {
        'X-Service-Timestamp': '2026-01-15T11:54:59Z',
        'X-Service-Signature': sign(body, secret, '2026-01-15T11:54:59Z'),
      },
      'old',
    ],
  ])('a delivery with %s: it responds 401 and does not read the event', async (code, headers) => {
    const target = await serve(({ response }) => json(response, 200, {}));
    const on = await listen(['--forward-to', target.url]);
    expect(await send(on.url, body, headers)).toMatchObject({ status: 401 });
    expect((await on.lines(1))[0]).toBe(
      `2026-01-15T12:00:00.000Z\t-\t${Buffer.byteLength(body)}\t${code}\t-`,
    );
    expect(target.seen).toHaveLength(0);
  });

  it('bodies over 10 MiB with 413, by Content-Length or by the bytes received', async () => {
    const on = await listen(['--save', folder]);
    const declared = connect(Number(new URL(on.url).port), '127.0.0.1');
    declared.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10485761\r\n\r\n');
    const response = await new Promise<string>((resolve) =>
      declared.once('data', (data) => resolve(String(data))),
    );
    declared.destroy();
    expect(response).toMatch(/^HTTP\/1\.1 413 /);
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

describe('webhooks listen without a secret', () => {
  it('warns, shows deliveries as not_verified, and decodes nothing', async () => {
    const on = await listen(['--json'], { env: {} });
    expect(on.err()).toMatch(/NOT VERIFIED: no webhook secret is set.*RUNGATE_WEBHOOK_SECRET/);
    expect(await deliver(on.url, body)).toMatchObject({ status: 204 });
    expect(JSON.parse((await on.lines(1))[0] ?? '')).toMatchObject({
      verdict: 'not_verified',
      event: null,
      secret: null,
    });
  });

  it('exits with 78 for --forward-to without --forward-unverified, and names the variables', async () => {
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
      response.writeHead(202).end('thanks ☕');
    });
    const port = await listenOnFreePort(server);
    return { seen, port, url: `http://127.0.0.1:${port}` };
  };

  it('forwards body and end-to-end headers unchanged, and passes status and body back', async () => {
    const target = await rawServer();
    const on = await listen(['--forward-to', `${target.url}/hook?a=b`]);
    const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x0d, 0x0a, 0x7d]);
    const response = await send(on.url, bytes, {
      'X-Service-Timestamp': timestamp,
      'x-SERVICE-signature': sign(bytes),
      'X-Twice': ['1', '2'],
      'X-Latin': 'caf\u00e9',
      'Keep-Alive': 'timeout=5',
      'X-Mine': 'hop',
      Connection: 'close, x-mine',
    });
    expect(response).toMatchObject({ status: 202, body: 'thanks ☕' });
    const [received] = target.seen;
    expect(received?.url).toBe('/hook?a=b');
    expect(received?.body).toEqual(bytes);
    expect(received?.rawHeaders).toEqual([
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
  });

  it('does not follow a redirect of the target', async () => {
    const target = await serve(({ response }) => response.writeHead(307, { Location: '/elsewhere' }).end());
    const on = await listen(['--forward-to', target.url]);
    expect(await deliver(on.url, body)).toMatchObject({ status: 307 });
    expect(target.seen).toHaveLength(1);
  });

  it('with --forward-unverified, warns and forwards deliveries that are not authentic', async () => {
    const target = await serve(({ response }) => json(response, 200, {}));
    const on = await listen(['--forward-to', target.url, '--forward-unverified']);
    expect(on.err()).toMatch(/deliveries that are not authentic are forwarded too/);
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

  it('saves each request as a private file that webhooks verify can read', async () => {
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

  it('never overwrites a file', async () => {
    const name = '20260115T120000.000Z-0001.http';
    writeFileSync(join(folder, name), 'mine');
    const on = await listen(['--save', folder]);
    await deliver(on.url, body);
    expect((await on.lines(1))[0]).toMatch(/-0002\.http$/);
    expect(readFileSync(join(folder, name), 'utf8')).toBe('mine');
  });
});

describe('webhooks listen, before it receives anything,', () => {
  it.each<[string, readonly string[], RegExp]>([
    ['a target with another scheme', ['--forward-to', 'ftp://x/'], /ftp: is not http/],
    ['a target with a password', ['--forward-to', 'http://u:hunter22@x/'], /contains a credential/],
    ['--forward-unverified without --forward-to', ['--forward-unverified'], /add --forward-to/],
    ['a folder inside a file', ['--save', '/etc/hostname/x'], /cannot create/],
  ])('rejects %s with exit code 64', async (_what, argv, message) => {
    const { code, out, err } = await cli(['webhooks', 'listen', '--port', '0', ...argv], { env });
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(message);
    expect(err).not.toContain('hunter22');
  });
});
