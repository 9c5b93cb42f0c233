import { type Agent, type ClientRequest, type IncomingMessage, request as open } from 'node:http';
import { ContractError } from '../errors.ts';
import type { HopArgs } from './connections.ts';
import { networkError } from './fault.ts';
import { ProxyFault, proxyError } from './proxy-fault.ts';
import type { PreparedRequest } from './request.ts';
import type { RawReply } from './transport.ts';

/** One request to one address: a redirect is another hop. */
export interface Hop {
  request: PreparedRequest;
  url: URL;
  proxy: URL | null;
  signal: AbortSignal;
  maxBodyBytes: number;
  /** What the hop fails with when `signal` is aborted. */
  reason: (started: boolean) => unknown;
}

function joined({ headersDistinct }: IncomingMessage): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const [name, values] of Object.entries(headersDistinct)) flat[name] = values?.join(', ') ?? '';
  return flat;
}

function tooLarge(status: number, limit: number): ContractError {
  const expected = `a body of at most ${limit} bytes`;
  return new ContractError(`the reply is too large: expected ${expected}`, {
    field: '',
    expected,
    received: 'more',
    status,
  });
}

function argsOf({ request, url, signal }: Hop, agent: Agent): HopArgs {
  const { body } = request;
  return {
    agent,
    protocol: url.protocol,
    hostname: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port,
    defaultPort: url.protocol === 'https:' ? 443 : 80,
    path: url.pathname + url.search,
    method: request.method,
    // Said by us: Node leaves it out of a DELETE, whose body would then be read as the next request.
    headers: {
      ...request.headers,
      ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
    },
    givenUp: signal,
  };
}

/** Sends one request over the agent and reads the whole reply, without following redirects. */
export function sendHop(agent: Agent, hop: Hop): Promise<RawReply> {
  const { url, signal } = hop;
  if (signal.aborted) return Promise.reject(hop.reason(false));
  return new Promise((resolve, reject) => {
    let started = false;
    let reply: IncomingMessage | undefined;
    const request: ClientRequest = open(argsOf(hop, agent));
    const stop = () => {
      settle(() => reject(hop.reason(started)));
      request.destroy();
    };
    const settle = (outcome: () => void) => {
      signal.removeEventListener('abort', stop);
      outcome();
    };
    const fail = (error: Error) => {
      // What comes after a whole reply takes nothing from it: its end is on its way.
      if (reply?.complete) return;
      const proxied = error instanceof ProxyFault && hop.proxy !== null;
      const fault = proxied ? proxyError(error, url, hop.proxy as URL) : networkError(error, url, started);
      settle(() => reject(fault));
    };
    signal.addEventListener('abort', stop, { once: true });
    request.once('socket', () => {
      started = true;
    });
    request.on('error', fail);
    request.once('response', (response) => {
      reply = response;
      const { statusCode: status = 0 } = response;
      const chunks: Buffer[] = [];
      let size = 0;
      const finish = () =>
        settle(() =>
          resolve({
            status,
            headers: joined(response),
            text: new TextDecoder().decode(Buffer.concat(chunks)),
          }),
        );
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size <= hop.maxBodyBytes) {
          chunks.push(chunk);
          return;
        }
        // An error is an error whatever the length of its explanation.
        if (status < 200 || status >= 300) finish();
        else settle(() => reject(tooLarge(status, hop.maxBodyBytes)));
        request.destroy();
      });
      response.once('end', finish);
      response.on('error', fail);
    });
    request.end(hop.request.body);
  });
}
