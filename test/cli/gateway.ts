import { readFileSync } from 'node:fs';
import { request as httpRequest, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer } from 'node:https';
import type { TLSSocket } from 'node:tls';
import { listen } from '../listen.ts';

export const pem = (name: string) =>
  readFileSync(new URL(`../transport/tls/${name}`, import.meta.url), 'utf8');

/** The header that the gateway demands. */
export const gatewayHeader = { name: 'X-Gate', value: 'gate-Pass-7Qm2xV' } as const;

/** A request as a server has received it: the header, and the name in the client certificate. */
export interface Received {
  path: string;
  header: string | undefined;
  certificate: string | undefined;
}

/** Starts a TLS server on this machine. @param demands a client certificate, without which no request arrives */
export async function startTls(demands: boolean, listener: RequestListener) {
  const received: Received[] = [];
  const tls = { key: pem('server.key'), cert: pem('server.pem'), ca: pem('ca.pem') };
  const options = { ...tls, requestCert: true, rejectUnauthorized: demands };
  const server = createServer(options, (request, response) => {
    const { subject } = (request.socket as TLSSocket).getPeerCertificate();
    const header = request.headers[gatewayHeader.name.toLowerCase()];
    received.push({
      path: request.url ?? '',
      header: header?.toString(),
      certificate: subject?.CN?.toString(),
    });
    listener(request, response);
  });
  return { url: `https://localhost:${await listen(server)}`, received };
}

/** Starts a gateway in front of a service that demands a client certificate and a header. */
export function startGateway(serviceUrl: string) {
  const forward = (request: IncomingMessage, response: Parameters<RequestListener>[1]) => {
    const { host: _, ...headers } = request.headers;
    const { method = 'GET', url = '/' } = request;
    const own = httpRequest(new URL(url, serviceUrl), { method, headers }, (sent) => {
      response.writeHead(sent.statusCode ?? 500, sent.headers);
      sent.pipe(response);
    });
    request.pipe(own);
  };
  return startTls(true, (request, response) => {
    if (request.headers[gatewayHeader.name.toLowerCase()] === gatewayHeader.value)
      return forward(request, response);
    response.writeHead(403).end('<html><title>The gateway refused the request</title></html>');
  });
}
