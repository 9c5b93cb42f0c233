import { type Agent, type ClientRequest, type IncomingMessage, request as open } from 'node:http';
import { CollectedBytes } from '../collected-bytes.ts';
import { ContractError } from '../errors.ts';
import type { HopArgs } from './connections.ts';
import { networkError } from './network-error.ts';
import { ProxyFault, proxyError } from './proxy-error.ts';
import type { Stop } from './stop.ts';
import type { PreparedRequest, RawReply } from './transport.ts';

/** One request to one address: a redirect is another hop. */
export interface Hop {
  request: PreparedRequest;
  url: URL;
  proxy: URL | null;
  stop: Stop;
  maxBodyBytes: number;
  /** What the hop fails with when it is stopped. */
  reason: (started: boolean) => unknown;
}

/** Not Node's own record: that keeps the first of some headers, and drops the others. */
function joined({ rawHeaders }: IncomingMessage): Record<string, string> {
  const flat: Record<string, string> = {};
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = (rawHeaders[at] as string).toLowerCase();
    const value = rawHeaders[at + 1] as string;
    flat[name] = Object.hasOwn(flat, name) ? `${flat[name]}, ${value}` : value;
  }
  return flat;
}

const decoder = new TextDecoder();

/** Enough for the explanation of an error. */
const mostErrorBytes = 1024 * 1024;

function tooLarge(status: number, limit: number): ContractError {
  const expected = `a body of at most ${limit} bytes`;
  return new ContractError(`the reply is too large: expected ${expected}`, {
    field: '',
    expected,
    received: 'more',
    status,
  });
}

/** Names and values in turn, which Node takes as they are: as a record they would be set and checked one by one. */
function lines({ method, headers, body }: PreparedRequest, host: string): string[] {
  const all = ['host', host];
  for (const name of Object.keys(headers)) all.push(name, headers[name] as string);
  // Node leaves it out of a DELETE, whose body would then be read as the next request.
  if (body !== undefined) all.push('content-length', String(Buffer.byteLength(body)));
  else if (method !== 'GET' && method !== 'DELETE') all.push('content-length', '0');
  return all;
}

function argsOf({ request, url, stop }: Hop, agent: Agent): HopArgs {
  const { protocol, hostname, port } = url;
  return {
    agent,
    protocol,
    hostname: hostname.startsWith('[') ? hostname.slice(1, -1) : hostname,
    port,
    defaultPort: protocol === 'https:' ? 443 : 80,
    path: url.pathname + url.search,
    method: request.method,
    headers: lines(request, url.host),
    stop,
  };
}

/** Sends one request over the agent and reads the whole reply, without following redirects. */
export function sendHop(agent: Agent, hop: Hop): Promise<RawReply> {
  const { url } = hop;
  if (hop.stop.called) return Promise.reject(hop.reason(false));
  return new Promise((resolve, reject) => {
    let started = false;
    let reply: IncomingMessage | undefined;
    const request: ClientRequest = open(argsOf(hop, agent));
    const stop = () => {
      settle(() => reject(hop.reason(started)));
      request.destroy();
    };
    const settle = (outcome: () => void) => {
      hop.stop.off(stop);
      outcome();
    };
    const fail = (error: Error) => {
      // What comes after a whole reply takes nothing from it: its end is on its way.
      if (reply?.complete) return;
      const proxied = error instanceof ProxyFault && hop.proxy !== null;
      const fault = proxied ? proxyError(error, url, hop.proxy as URL) : networkError(error, url, started);
      settle(() => reject(fault));
    };
    hop.stop.on(stop);
    request.once('socket', () => {
      started = true;
    });
    request.on('error', fail);
    request.once('close', () => {
      // Node says no more when the reply is a 101: the connection is another protocol's, and nobody wants it.
      if (reply === undefined) fail(new Error('it was closed without a reply'));
    });
    request.once('response', (response) => {
      reply = response;
      const { statusCode: status = 0 } = response;
      const isError = status < 200 || status >= 300;
      const most = isError ? Math.min(hop.maxBodyBytes, mostErrorBytes) : hop.maxBodyBytes;
      const body = new CollectedBytes(most, Number(response.headers['content-length']));
      const finish = () => {
        settle(() => resolve({ status, headers: joined(response), text: decoder.decode(body.bytes()) }));
        // A reply that did not wait for the body: the rest would be sent for as long as the peer reads it, or does not.
        if (!request.writableFinished) request.destroy();
      };
      response.on('data', (chunk: Buffer) => {
        if (body.add(chunk)) return;
        // An error is an error whatever the length of its explanation.
        if (isError) finish();
        else settle(() => reject(tooLarge(status, most)));
        request.destroy();
      });
      response.once('end', finish);
      response.on('error', fail);
    });
    request.end(hop.request.body);
  });
}
