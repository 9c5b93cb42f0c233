import { createServer, type RequestListener, request } from 'node:http';
import { signSync } from '../../../src/webhook/node.ts';
import { listen as listenOn } from '../../listen.ts';

export const secret = 'whsec-of-the-tests';
export const at = '2026-01-15T12:00:00.000Z';
export const now = () => new Date(at);

export type Pairs = readonly (readonly [string, string])[];

export interface ReceivedResponse {
  status: number;
  body: Buffer;
}

/** Sends a request over a real socket, with exactly these headers, and with Content-Length unless it is chunked. */
export function post(url: string, body: Uint8Array | string, headers: Pairs): Promise<ReceivedResponse> {
  return new Promise((resolve, reject) => {
    const { host } = new URL(url);
    const flat = [['Host', host], ['Content-Type', 'application/json'], ...headers].flat();
    const declared = headers.some(([name]) => name.toLowerCase() === 'transfer-encoding');
    if (!declared) flat.push('Content-Length', String(Buffer.byteLength(body)));
    const outgoing = request(url, { method: 'POST', headers: flat, agent: false }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('end', () => resolve({ status: incoming.statusCode ?? 0, body: Buffer.concat(chunks) }));
      incoming.on('error', reject);
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

/** Listens on a free loopback port until the test ends, and returns the URL of the receiver. */
export const listen = async (listener: RequestListener): Promise<string> =>
  `http://127.0.0.1:${await listenOn(createServer(listener))}/hook`;

export function headersFor(
  body: Uint8Array | string,
  { key = secret, timestamp = at } = {},
): [string, string][] {
  const { signature } = signSync({ body, secret: key, timestamp });
  return [
    ['X-Service-Timestamp', timestamp],
    ['X-Service-Signature', signature],
  ];
}
