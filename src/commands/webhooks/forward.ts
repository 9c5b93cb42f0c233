import {
  type ClientRequest,
  type IncomingMessage,
  request as plain,
  type RequestOptions,
  validateHeaderName,
  validateHeaderValue,
} from 'node:http';
import type { Socket } from 'node:net';
import type { SecureContext } from 'node:tls';
import { CollectedBytes } from '../../collected-bytes.ts';
import { UsageError } from '../../errors.ts';
import { parseUrl } from '../../parse-url.ts';

/** The largest body that is taken, from the sender and from the target. */
export const mostBytes = 10 * 1024 * 1024;
const timeoutMs = 30_000;

/** A request that was received, as the text that it was. */
export interface Received {
  method: string;
  target: string;
  httpVersion: string;
  /** Names and values in turn, as they came. */
  rawHeaders: readonly string[];
  body: Uint8Array;
}

/** What the sender gets back. Headers are names and values in turn. */
export interface Answer {
  status: number;
  headers?: readonly string[];
  body?: Uint8Array;
}

/** Those of one connection, which the next one makes for itself (RFC 9110, 7.6.1). */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'content-length',
];

/** Names with their values, from a list that has them in turn. */
export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[index * 2] ?? '',
    rawHeaders[index * 2 + 1] ?? '',
  ]);
}

/** Raw headers in their order and spelling, without those of the connection and the ones it names. */
function endToEnd(rawHeaders: readonly string[], without: readonly string[] = []): string[] {
  const pairs = pairsOf(rawHeaders);
  const named = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((one) => one.trim().toLowerCase()));
  const left = new Set([...hopByHop, ...named, ...without]);
  return pairs.filter(([name]) => !left.has(name.toLowerCase())).flat();
}

/** Where deliveries are sent on to. */
export function parseTarget(text: string): URL {
  const hint = 'write it whole: http://localhost:3000/hook';
  const url = parseUrl(text);
  if (url === null) throw new UsageError('--forward-to is not a URL', { hint });
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new UsageError(`--forward-to: ${url.protocol} is not http: or https:`, { hint });
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--forward-to has a password in it, which every process can read', {
      hint: 'deliveries are known by their signature: let the target verify it',
    });
  }
  return url;
}

export interface Forwarded {
  answer: Answer;
  /** The target's status; null when there was none. */
  status: number | null;
  /** Why there was none. */
  fault: string | null;
}

interface ForwardOptions {
  target: URL;
  signal: AbortSignal;
  /** Told of each connection to the target. */
  onConnection(socket: Socket): void;
  secureContext: SecureContext | undefined;
}

const faults: Record<string, string> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'no such host',
  ECONNRESET: 'broken off',
};

function noAnswer(status: number, fault: string): Forwarded {
  const body = new TextEncoder().encode(`rungate: the forward target could not be asked: ${fault}\n`);
  const headers = ['Content-Type', 'text/plain; charset=utf-8'];
  return { answer: { status, headers, body }, status: null, fault };
}

async function open(
  options: RequestOptions,
  { target, secureContext }: ForwardOptions,
): Promise<ClientRequest> {
  if (target.protocol === 'http:') return plain(target, options);
  const { request } = await import('node:https');
  return request(target, { ...options, ...(secureContext === undefined ? {} : { secureContext }) });
}

/** Whether the answer can be sent on: Node reads some that it refuses to write. */
function isSendable(status: number, headers: readonly string[]): boolean {
  if (status < 200 || status > 999) return false;
  try {
    for (const [name, value] of pairsOf(headers)) {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    }
    return true;
  } catch {
    return false;
  }
}

async function readAnswer(response: IncomingMessage): Promise<Forwarded> {
  const body = new CollectedBytes(mostBytes);
  for await (const chunk of response) {
    if (!body.add(chunk)) return noAnswer(502, 'its answer is too large');
  }
  const { statusCode: status = 502, rawHeaders } = response;
  const headers = endToEnd(rawHeaders);
  if (!isSendable(status, headers)) return noAnswer(502, 'its answer is not HTTP');
  return { answer: { status, headers, body: body.bytes() }, status, fault: null };
}

/**
 * Sends a delivery on: the same bytes and headers, but for those of the connection and `Host`, which is the
 * target's. Redirects are an answer like any other. Without an answer the sender gets 502, or 504 when it took too
 * long.
 */
export async function forward(received: Received, options: ForwardOptions): Promise<Forwarded> {
  const { target, signal, onConnection } = options;
  const late = AbortSignal.timeout(timeoutMs);
  const headers = [
    'Host',
    target.host,
    ...endToEnd(received.rawHeaders, ['host']),
    'Content-Length',
    String(received.body.length),
    'Connection',
    'close',
  ];
  try {
    const request = await open(
      { method: received.method, headers, agent: false, signal: AbortSignal.any([signal, late]) },
      options,
    );
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', reject);
      // After an unrequested 101 Node reports nothing more.
      request.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
      request.once('socket', (socket) => socket.once('connect', () => onConnection(socket)));
      request.end(received.body);
    });
    return await readAnswer(response);
  } catch (error) {
    if (late.aborted && !signal.aborted) return noAnswer(504, 'no answer in time');
    const { code } = error as NodeJS.ErrnoException;
    return noAnswer(502, faults[code ?? ''] ?? code ?? 'unknown');
  }
}
