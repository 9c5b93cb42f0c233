import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { LookupFunction } from 'node:net';
import { Server } from 'proxy-chain';
import { onTestFinished } from 'vitest';
import { listen } from '../listen.ts';

export const serviceHost = 'service.rungate.test';
export const pem = (name: string) => readFileSync(new URL(`tls/${name}`, import.meta.url), 'utf8');

export interface TestProxy {
  port: number;
  /** The CONNECT requests that it received: the target as `host:port`, and the credentials. */
  connects: { target: string; user: string; password: string }[];
}

/** Starts a proxy that resolves every name to this machine and requires the given credentials, if any. */
export async function startProxy(required?: { user: string; password: string }): Promise<TestProxy> {
  const connects: TestProxy['connects'] = [];
  const toThisMachine: LookupFunction = (_host, options, callback) =>
    options.all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    prepareRequestFunction({ hostname, port, username, password }) {
      connects.push({ target: `${hostname}:${port}`, user: username, password });
      const refused =
        required !== undefined && (username !== required.user || password !== required.password);
      return { requestAuthentication: refused, dnsLookup: toThisMachine as never };
    },
  });
  await server.listen();
  onTestFinished(() => server.close(true));
  return { port: server.port, connects };
}

/** Starts a TLS server with a certificate for `serviceHost` and returns its port. */
export const startService = (listener: RequestListener): Promise<number> =>
  listen(createServer({ key: pem('service.key'), cert: pem('service.pem') }, listener));
