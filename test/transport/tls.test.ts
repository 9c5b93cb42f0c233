import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { ConfigError, NetworkError } from '../../src/errors.ts';
import { openPage } from '../../src/gate/deployed/open.ts';
import { openHub } from '../../src/gate/fleet/open-hub.ts';
import { nameInCommands } from '../../src/options/spelling.ts';
import { receiver } from '../../src/transport/address.ts';
import { httpTransport, type Transport, type TransportOptions } from '../../src/transport/send.ts';
import type { PreparedRequest } from '../../src/transport/transport.ts';
import { rejection } from '../client/rejection.ts';
import { listen } from '../listen.ts';
import { serviceHost, startProxy } from './proxied.ts';

const pem = (name: string) => readFileSync(new URL(`tls/${name}`, import.meta.url), 'utf8');

async function serveTls(): Promise<number> {
  const tls = { key: pem('server.key'), cert: pem('server.pem') };
  return listen(createServer(tls, (_, response) => response.end('{}')));
}

const to = receiver('service', nameInCommands);

function open(options: Omit<TransportOptions, 'to'> = {}): Transport {
  const transport = httpTransport({ ...options, to });
  onTestFinished(() => transport.close());
  return transport;
}

function get(url: string): PreparedRequest {
  const target = { endpoint: 'x.get', method: 'GET', url: new URL(url), path: '/', headers: {} } as const;
  return { ...target, repeatable: true };
}

const patient = { timeoutMs: 100_000 };

test('rejects a certificate from an unknown CA and suggests how to trust it', async () => {
  const url = `https://localhost:${await serveTls()}/`;
  const error = await rejection(open().send(get(url), patient), NetworkError);
  expect(error).toMatchObject({ fault: 'tls', code: 'network_tls' });
  expect(error.hint).toContain('--ca-file');
  expect(error.hint).toContain('NODE_EXTRA_CA_CERTS');
});

test('rejects a certificate for another host, even from a trusted CA', async () => {
  const url = `https://127.0.0.1:${await serveTls()}/`;
  const error = await rejection(open({ caPem: pem('ca.pem') }).send(get(url), patient), NetworkError);
  expect(error.fault).toBe('tls');
});

test('reports an expired certificate without suggesting a CA file', async () => {
  const server = createServer({ key: pem('expired.key'), cert: pem('expired.pem') });
  const url = `https://localhost:${await listen(server)}/`;
  const error = await rejection(open({ caPem: pem('expired.pem') }).send(get(url), patient), NetworkError);
  expect(error.message).toMatch(/^the certificate of localhost:\d+ has expired$/);
  expect(error.hint).not.toContain('--ca-file');
});

describe('a server that does not send the intermediate certificate of its chain', () => {
  const incomplete = async () => {
    const server = createServer({ key: pem('chain.key'), cert: pem('chain.pem') }, (_, response) =>
      response.end('{}'),
    );
    return `https://localhost:${await listen(server)}/`;
  };

  test('is an error with that cause, although the CA is trusted', async () => {
    const transport = open({ caPem: pem('chain-root.pem') });
    const error = await rejection(transport.send(get(await incomplete()), patient), NetworkError);
    expect(error.message).toMatch(
      /:\d+ is not trusted: its issuer is unknown, and the server did not send the certificate of the issuer$/,
    );
    expect(error.hint).toContain('--ca-file');
    expect(error.hint).toContain('if an intermediate CA did, the service must also send');
  });

  test('is trusted if the CA file contains the intermediate certificate as well', async () => {
    const transport = open({ caPem: `${pem('chain-root.pem')}\n${pem('chain-intermediate.pem')}` });
    expect((await transport.send(get(await incomplete()), patient)).status).toBe(200);
  });
});

test('suggests https:// when a TLS port closes a plain HTTP connection', async () => {
  const error = await rejection(
    open().send(get(`http://localhost:${await serveTls()}/`), patient),
    NetworkError,
  );
  expect(error.hint).toBe('if this port expects TLS, use https:// instead of http:// in RUNGATE_API_URL');
});

const damaged = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';

test.each(['', pem('server.key'), 'hello\n', damaged])(
  'refuses a CA file without a readable certificate in PEM: %#',
  async (caPem) => {
    const error = await rejection(open({ caPem }).send(get('https://localhost:1/'), patient), ConfigError);
    expect(error.message).toMatch(/^the CA file( contains no certificate in PEM|: certificate 1 cannot be)/);
    expect(error.hint).toBeTruthy();
  },
);

describe('a client certificate', () => {
  const identity = { certPem: pem('server.pem'), keyPem: pem('server.key') };

  /** Starts a server that demands a client certificate of the CA. */
  async function demanding(maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<string> {
    const tls = { key: pem('server.key'), cert: pem('server.pem'), ca: pem('ca.pem') };
    const server = createServer({ ...tls, requestCert: true, maxVersion }, (request, response) =>
      response.end((request.socket as TLSSocket).getPeerCertificate().subject.CN),
    );
    return `https://localhost:${await listen(server)}/`;
  }

  describe.each(['TLSv1.2', 'TLSv1.3'] as const)('with %s', (version) => {
    test.each([
      ['in two files', identity],
      ['with its key in one', { certPem: `${identity.keyPem}\n${identity.certPem}` }],
    ])('is shown to a server that demands one: %s', async (_, options) => {
      const transport = open({ caPem: pem('ca.pem'), ...options });
      const url = await demanding(version);
      for (const fresh of [false, true])
        expect((await transport.send(get(url), { ...patient, fresh })).text).toBe('localhost');
    });

    test('that is missing is a cause that the error suggests', async () => {
      const request = open({ caPem: pem('ca.pem') }).send(get(await demanding(version)), patient);
      const error = await rejection(request, NetworkError);
      expect(error.hint).toBe('the service may require a client certificate: check --cert-file');
    });
  });

  test.each([
    ['has no key', { certPem: identity.certPem }, 'the client certificate has no private key in PEM'],
    [
      'has the key of another one',
      { certPem: identity.certPem, keyPem: pem('expired.key') },
      'the private key belongs to another client certificate',
    ],
    [
      'has an encrypted key',
      {
        certPem: identity.certPem,
        keyPem: createPrivateKey(identity.keyPem)
          .export({ type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' })
          .toString(),
      },
      'the private key of the client certificate is encrypted',
    ],
    [
      'has a damaged key',
      { certPem: identity.certPem, keyPem: identity.keyPem.slice(0, 200) },
      'the private key of the client certificate cannot be read',
    ],
  ])('that %s is a configuration error', async (_, options, message) => {
    const error = await rejection(open(options).send(get('https://localhost:1/'), patient), ConfigError);
    expect(error.message).toBe(message);
    expect(error.hint).toBeTruthy();
  });

  test('has a key that is nothing without it', () => {
    expect(() => httpTransport({ keyPem: identity.keyPem, to })).toThrow(
      '--key-file has no effect without --cert-file',
    );
  });
});

describe('with NODE_TLS_REJECT_UNAUTHORIZED=0, an untrusted certificate still stops', () => {
  /** Starts a server whose certificate nobody trusts, and counts its requests. */
  async function untrusted() {
    vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
    onTestFinished(() => void vi.unstubAllEnvs());
    let requests = 0;
    const server = createServer({ key: pem('server.key'), cert: pem('server.pem') }, (_, response) => {
      requests += 1;
      response.end('1.2.3');
    });
    const port = await listen(server);
    return { port, url: `https://localhost:${port}/`, requests: () => requests };
  }

  test.each([
    ['without a CA file', undefined],
    ['with another CA file', pem('service-ca.pem')],
  ])('a request to the service, %s', async (_what, caPem) => {
    const { url, requests } = await untrusted();
    const transport = open({ caPem });
    for (const fresh of [false, true]) {
      const error = await rejection(transport.send(get(url), { ...patient, fresh }), NetworkError);
      expect(error.fault).toBe('tls');
    }
    expect(requests()).toBe(0);
  });

  test('a CONNECT to an HTTPS proxy, and a request through its tunnel', async () => {
    const { port, requests } = await untrusted();
    const through = (proxy: string, caPem: string | undefined) =>
      rejection(
        open({ caPem, proxyEnv: { HTTPS_PROXY: proxy } }).send(
          get(`https://${serviceHost}:${port}/`),
          patient,
        ),
        NetworkError,
      );
    const toProxy = await through(`https://user:password@localhost:${port}`, undefined);
    expect(toProxy).toMatchObject({ fault: 'tls', message: expect.stringContaining('proxy') });
    const tunnel = await startProxy();
    expect((await through(`http://127.0.0.1:${tunnel.port}`, undefined)).fault).toBe('tls');
    expect(tunnel.connects).toHaveLength(1);
    expect(requests()).toBe(0);
  });

  test('a request to the hub', async () => {
    const { url, requests } = await untrusted();
    const hub = openHub({ url, token: 'hub-token', clock: systemClock, nameOf: String });
    onTestFinished(() => hub.close());
    await hub.status();
    expect(requests()).toBe(0);
  });

  test('a read of the version page', async () => {
    const { url, requests } = await untrusted();
    const page = openPage({
      url,
      pointer: undefined,
      expected: [],
      headers: {},
      redact: String,
      clock: systemClock,
      nameOf: String,
    });
    onTestFinished(() => page.close());
    const reading = await page.read({ signal: new AbortController().signal, timeoutMs: 100_000 });
    expect(reading).toMatchObject({ error: { code: 'network_tls' } });
    expect(requests()).toBe(0);
  });
});
