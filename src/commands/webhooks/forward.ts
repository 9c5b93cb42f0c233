import {
  type ClientRequest,
  request as httpRequest,
  type IncomingMessage,
  type RequestOptions,
} from 'node:http';
import type { SecureContext } from 'node:tls';
import { CollectedBytes } from '../../collected-bytes.ts';
import { UsageError } from '../../errors.ts';
import { parseUrl } from '../../parse-url.ts';

/** The limit for a body, from the sender and from the target. */
export const maxBodyBytes = 10 * 1024 * 1024;
const timeoutMs = 30_000;

export interface ReceivedRequest {
  method: string;
  target: string;
  httpVersion: string;
  /** Alternating names and values, unchanged. */
  rawHeaders: readonly string[];
  body: Uint8Array;
}

/** The response to the sender. */
export interface SenderResponse {
  status: number;
  body?: Uint8Array;
}

/** The headers of one connection, which are not forwarded (RFC 9110, 7.6.1). */
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

export function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[index * 2] ?? '',
    rawHeaders[index * 2 + 1] ?? '',
  ]);
}

/** Returns the headers in their order and spelling, without `Host`, those of the connection and those that it lists. */
function endToEnd(rawHeaders: readonly string[]): string[] {
  const pairs = pairsOf(rawHeaders);
  const listed = pairs
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase()));
  const removed = new Set(['host', ...hopByHop, ...listed]);
  return pairs.filter(([name]) => !removed.has(name.toLowerCase())).flat();
}

export function forwardTarget(text: string): URL {
  const hint = 'write a complete URL, such as http://localhost:3000/hook';
  const url = parseUrl(text);
  if (url === null) throw new UsageError('--forward-to is not a URL', { hint });
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new UsageError(`--forward-to: ${url.protocol} is not http: or https:`, { hint });
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError('--forward-to contains a credential, which other processes could read', {
      hint: 'remove it, and let the target verify the signature of each delivery',
    });
  }
  return url;
}

export interface Forwarded {
  response: SenderResponse;
  /** The target's status code; null without a usable response. */
  status: number | null;
  /** The reason for the missing response. */
  fault: string | null;
}

interface ForwardOptions {
  target: URL;
  signal: AbortSignal;
  secureContext: SecureContext | undefined;
}

const faults: Record<string, string> = {
  ECONNREFUSED: 'refused',
  ENOTFOUND: 'no such host',
  ECONNRESET: 'connection closed',
};

function failedForward(status: number, fault: string): Forwarded {
  const body = new TextEncoder().encode(`rungate: forwarding to the target failed: ${fault}\n`);
  return { response: { status, body }, status: null, fault };
}

async function open(
  options: RequestOptions,
  { target, secureContext }: ForwardOptions,
): Promise<ClientRequest> {
  if (target.protocol === 'http:') return httpRequest(target, options);
  const { request } = await import('node:https');
  return request(target, { ...options, ...(secureContext === undefined ? {} : { secureContext }) });
}

async function forwardedResponse(response: IncomingMessage): Promise<Forwarded> {
  const body = new CollectedBytes(maxBodyBytes);
  for await (const chunk of response) {
    if (!body.add(chunk)) return failedForward(502, 'response too large');
  }
  const { statusCode: status = 502 } = response;
  // Node parses status codes that it refuses to write.
  if (status < 200 || status > 999) return failedForward(502, 'response is not HTTP');
  return { response: { status, body: body.bytes() }, status, fault: null };
}

/**
 * Forwards a delivery: the same bytes and headers, except for the headers of the connection and `Host`. Does not follow
 * redirects. The sender gets the target's status code and body, 502 without a usable response, and 504 after a timeout.
 */
export async function forward(received: ReceivedRequest, options: ForwardOptions): Promise<Forwarded> {
  const { target, signal } = options;
  const timeout = AbortSignal.timeout(timeoutMs);
  const headers = [
    'Host',
    target.host,
    ...endToEnd(received.rawHeaders),
    'Content-Length',
    String(received.body.length),
    'Connection',
    'close',
  ];
  try {
    const request = await open(
      { method: received.method, headers, agent: false, signal: AbortSignal.any([signal, timeout]) },
      options,
    );
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      request.once('response', resolve);
      request.on('error', reject);
      // After an unrequested 101, Node emits neither a response nor an error.
      request.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
      request.end(received.body);
    });
    return await forwardedResponse(response);
  } catch (error) {
    if (timeout.aborted && !signal.aborted) return failedForward(504, 'no response in time');
    const { code } = error as NodeJS.ErrnoException;
    return failedForward(502, faults[code ?? ''] ?? code ?? 'unknown');
  }
}
