import type { IncomingMessage } from 'node:http';
import type { SecureContext } from 'node:tls';
import { CollectedBytes } from '../../collected-bytes.ts';
import { UsageError } from '../../errors.ts';
import { parseUrl } from '../../parse-url.ts';
import type { CapturedRequest, HeaderPairs } from './capture.ts';

/** The limit for a body, from the sender and from the target. */
export const maxBodyBytes = 10 * 1024 * 1024;
const timeoutMs = 30_000;

/** `Host` and the headers of one connection (RFC 9110, 7.6.1). */
const notForwarded =
  /^(?:host|connection|keep-alive|te|trailer|transfer-encoding|upgrade|expect|content-length|proxy-.*)$/i;

/** Returns the headers in their order and spelling, without those of the connection and those that it lists. */
function endToEnd(headers: HeaderPairs): HeaderPairs {
  const listed = headers
    .filter(([name]) => name.toLowerCase() === 'connection')
    .flatMap(([, value]) => value.split(',').map((name) => name.trim().toLowerCase()));
  return headers.filter(([name]) => !notForwarded.test(name) && !listed.includes(name.toLowerCase()));
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

export interface Answer {
  status: number;
  body?: Uint8Array;
  /** Why the target gave no usable response. */
  fault?: string;
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

function failed(status: number, fault: string): Answer {
  const body = new TextEncoder().encode(`rungate: forwarding to the target failed: ${fault}\n`);
  return { status, body, fault };
}

async function send(
  { method, headers, body }: CapturedRequest,
  { target, signal, secureContext }: ForwardOptions,
): Promise<IncomingMessage> {
  const module = target.protocol === 'https:' ? await import('node:https') : await import('node:http');
  const sent = module.request(target, {
    method,
    headers: [
      ...['Host', target.host],
      ...endToEnd(headers).flat(),
      ...['Content-Length', String(body.length), 'Connection', 'close'],
    ],
    agent: false,
    signal,
    ...(secureContext && { secureContext }),
  });
  return new Promise((resolve, reject) => {
    sent.once('response', resolve);
    sent.on('error', reject);
    // After an unrequested 101, Node emits neither a response nor an error.
    sent.once('close', () => reject(Object.assign(new Error('closed'), { code: 'ECONNRESET' })));
    sent.end(body);
  });
}

/**
 * Forwards a delivery: the same bytes and headers, except for the headers of the connection and `Host`. Does not follow
 * redirects. The sender gets the target's status code and body, 502 without a usable response, and 504 after a timeout.
 */
export async function forward(request: CapturedRequest, options: ForwardOptions): Promise<Answer> {
  const timeout = AbortSignal.timeout(timeoutMs);
  const signal = AbortSignal.any([options.signal, timeout]);
  try {
    const response = await send(request, { ...options, signal });
    const body = new CollectedBytes(maxBodyBytes);
    for await (const chunk of response) {
      if (!body.add(chunk)) return failed(502, 'response too large');
    }
    const { statusCode: status = 502 } = response;
    // Node parses status codes that it refuses to write.
    if (status < 200 || status > 999) return failed(502, 'response is not HTTP');
    return { status, body: body.bytes() };
  } catch (error) {
    if (timeout.aborted && !options.signal.aborted) return failed(504, 'no response in time');
    const { code = 'unknown' } = error as NodeJS.ErrnoException;
    return failed(502, faults[code] ?? code);
  }
}
