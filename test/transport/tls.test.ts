import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { ConfigError, NetworkError } from '../../src/errors.ts';
import { redactNothing } from '../../src/redact.ts';
import { httpTransport, type Transport, type TransportOptions } from '../../src/transport/send.ts';
import type { PreparedRequest } from '../../src/transport/transport.ts';
import { rejection } from '../client/rejection.ts';

const pem = (name: string) => readFileSync(new URL(`tls/${name}`, import.meta.url), 'utf8');

async function serveTls(): Promise<number> {
  const server = createServer({ key: pem('server.key'), cert: pem('server.pem') }, (_, response) =>
    response.end('{}'),
  );
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function open(options: TransportOptions = {}): Transport {
  const transport = httpTransport(options);
  onTestFinished(() => transport.close());
  return transport;
}

function get(url: string): PreparedRequest {
  const target = { endpoint: 'x.get', method: 'GET', url: new URL(url), path: '/', headers: {} } as const;
  return { ...target, repeatable: true, redact: redactNothing };
}

const quick = { timeoutMs: 5000 };

test('a certificate that nobody known has signed ends the call, saying what to do', async () => {
  const url = `https://localhost:${await serveTls()}/`;
  const error = await rejection(open().send(get(url), quick), NetworkError);
  expect(error).toMatchObject({ fault: 'tls', code: 'network_tls' });
  expect(error.hint).toContain('--ca-file');
  expect(error.hint).toContain('NODE_EXTRA_CA_CERTS');
});

test('the own CA is trusted, on a reused and on a fresh connection', async () => {
  const url = `https://localhost:${await serveTls()}/`;
  const transport = open({ caPem: pem('ca.pem') });
  expect((await transport.send(get(url), quick)).status).toBe(200);
  expect((await transport.send(get(url), { ...quick, fresh: true })).status).toBe(200);
});

test('a certificate for another host is not trusted, whoever has signed it', async () => {
  const url = `https://127.0.0.1:${await serveTls()}/`;
  const error = await rejection(open({ caPem: pem('ca.pem') }).send(get(url), quick), NetworkError);
  expect(error.fault).toBe('tls');
});

test.each(['', 'no certificate', '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'])(
  'a CA file without a certificate is a configuration error: %j',
  async (caPem) => {
    const error = await rejection(open({ caPem }).send(get('https://localhost:1/'), quick), ConfigError);
    expect(error.message).toContain('CA file');
  },
);

async function serve(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

test('an expired certificate is named as such, and no CA file is asked for', async () => {
  const server = createServer({ key: pem('expired.key'), cert: pem('expired.pem') });
  const url = `https://localhost:${await serve(server)}/`;
  const error = await rejection(open({ caPem: pem('expired.pem') }).send(get(url), quick), NetworkError);
  expect(error.message).toMatch(/^the certificate of localhost:\d+ has expired$/);
  expect(error.hint).not.toContain('--ca-file');
});

test('a certificate for another host is shown with its hosts', async () => {
  const url = `https://127.0.0.1:${await serveTls()}/`;
  const error = await rejection(open({ caPem: pem('ca.pem') }).send(get(url), quick), NetworkError);
  expect(error.message).toMatch(/^the certificate of 127\.0\.0\.1:\d+ is for another host: localhost/);
});

test('a certificate without a subjectAltName is named as such, and the remedy works', async () => {
  const identity = { key: pem('cn-only.key'), cert: pem('cn-only.pem') };
  const server = createServer(identity, (_, response) => response.end('{}'));
  const url = `https://127.0.0.1:${await serve(server)}/`;
  const transport = open({ caPem: pem('cn-only.pem') });
  const error = await rejection(transport.send(get(url), quick), NetworkError);
  expect(error.message).toMatch(
    /:\d+ has no subjectAltName that names the host, only the common name localhost$/,
  );
  expect(error.hint).toMatch(
    /^issue it again with subjectAltName=IP:127\.0\.0\.1; or write localhost in \S.*, if that leads to the service$/,
  );
  expect((await transport.send(get(url.replace('127.0.0.1', 'localhost')), quick)).status).toBe(200);
});

test('plain HTTP to a TLS port that closes the connection leads to https://', async () => {
  const error = await rejection(
    open().send(get(`http://localhost:${await serveTls()}/`), quick),
    NetworkError,
  );
  expect(error.hint).toBe('if a TLS port is there, write https:// in place of http:// in RUNGATE_API_URL');
});

test('plain HTTP to a TLS port that answers with an alert leads to https://', async () => {
  const alert = Buffer.from([0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x46]);
  const port = await serve(createTcpServer((socket) => void socket.on('error', () => {}).end(alert)));
  const error = await rejection(open().send(get(`http://localhost:${port}/`), quick), NetworkError);
  expect(error.hint).toContain('write https:// in place of http://');
});

test.each([
  ['', 'is empty'],
  ['-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n', 'holds a private key'],
  [`${pem('server.key')}`, 'holds a private key'],
  ['\u{fffd}\u0002', 'is not PEM text'],
  ['hello\n', 'holds no certificate'],
])('a CA file that holds something else is described: %#', async (caPem, problem) => {
  const error = await rejection(open({ caPem }).send(get('https://localhost:1/'), quick), ConfigError);
  expect(error.message).toBe(`the CA file ${problem}${problem.endsWith('key') ? ' and no certificate' : ''}`);
  expect(error.hint).toBeTruthy();
});
