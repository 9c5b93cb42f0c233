import { readFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, LookupFunction } from 'node:net';
import { Server } from 'proxy-chain';
import { onTestFinished } from 'vitest';

export const serviceHost = 'service.rungate.test';
export const pem = (name: string) => readFileSync(new URL(`tls/${name}`, import.meta.url), 'utf8');

export interface TestProxy {
  port: number;
  /** What CONNECT was asked for, as `host:port`, with the credential that came along. */
  asked: { target: string; user: string; password: string }[];
}

/** A proxy that finds every name on this machine, and wants this user and password if there are any. */
export async function startProxy(wanted?: { user: string; password: string }): Promise<TestProxy> {
  const asked: TestProxy['asked'] = [];
  const toThisMachine: LookupFunction = (_host, options, callback) =>
    options.all ? callback(null, [{ address: '127.0.0.1', family: 4 }]) : callback(null, '127.0.0.1', 4);
  const server = new Server({
    port: 0,
    host: '127.0.0.1',
    prepareRequestFunction({ hostname, port, username, password }) {
      asked.push({ target: `${hostname}:${port}`, user: username, password });
      const refused = wanted !== undefined && (username !== wanted.user || password !== wanted.password);
      return { requestAuthentication: refused, dnsLookup: toThisMachine as never };
    },
  });
  await server.listen();
  onTestFinished(() => server.close(true));
  return { port: server.port, asked };
}

/** A TLS server whose certificate is for `serviceHost`; returns its port. */
export async function startService(listener: RequestListener): Promise<number> {
  const server = createServer({ key: pem('service.key'), cert: pem('service.pem') }, listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}
