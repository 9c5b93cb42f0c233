import type { Dispatcher } from 'undici';
import { CollectedBytes } from '../collected-bytes.ts';
import { ContractError } from '../errors.ts';
import type { HintNames } from '../hint-names.ts';
import { networkError, ProxyFault, proxyError } from './network-error.ts';
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
  /** What errors call the settings. */
  names: HintNames;
}

const decoder = new TextDecoder();

/** Enough for the explanation of an error. */
const mostErrorBytes = 1024 * 1024;

const isSuccess = (status: number) => status >= 200 && status < 300;

/** A header that came several times becomes one. */
function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return flat;
}

/** What an error keeps of a body at first: it shows less. */
const mostKept = 256 * 1024;

function tooLarge(status: number, limit: number, body: Uint8Array): ContractError {
  const expected = `a body of at most ${limit} bytes`;
  return new ContractError(`the reply is too large: expected ${expected}`, {
    field: '',
    expected,
    received: 'more',
    status,
    body: decoder.decode(body.subarray(0, mostKept)),
  });
}

/** A longer body may still be on its way when the response is there, and what is left must not be sent then. */
const longBody = 16 * 1024;

function optionsOf({ request, url }: Hop): Dispatcher.DispatchOptions {
  const { method, headers, body = null } = request;
  return {
    origin: url.origin,
    path: url.pathname + url.search,
    method,
    headers,
    body,
    reset: body !== null && body.length > longBody,
  };
}

/** Sends one request and reads the whole response, without following redirects. */
export function sendHop(dispatcher: Dispatcher, hop: Hop): Promise<RawReply> {
  const { url } = hop;
  if (hop.stop.called) return Promise.reject(hop.reason(false));
  return new Promise((resolve, reject) => {
    let head: Omit<RawReply, 'text'> = { status: 0, headers: {} };
    let body = new CollectedBytes(0);
    let sending: Dispatcher.DispatchController | undefined;
    const settle = (outcome: () => void) => {
      hop.stop.onCall = undefined;
      outcome();
    };
    const stop = () => {
      settle(() => reject(hop.reason(sending !== undefined)));
      sending?.abort(new Error('stopped'));
    };
    const finish = () => settle(() => resolve({ ...head, text: decoder.decode(body.bytes()) }));
    // undici frees the connection in the next turn of the event loop: a request sent before that opens another one.
    const finishFree = () => queueMicrotask(() => setImmediate(finish));
    hop.stop.onCall = stop;
    dispatcher.dispatch(optionsOf(hop), {
      // Called once, when the first byte is about to be written to a connection that is open and, if it is TLS, trusted.
      onRequestStart(controller) {
        if (hop.stop.called) controller.abort(new Error('stopped'));
        else sending = controller;
      },
      onResponseStart(controller, status, headers) {
        // The connection now speaks another protocol.
        if (status === 101) controller.abort(new Error('it switched to another protocol'));
        head = { status, headers: joined(headers) };
        const most = hop.maxBodyBytes;
        body = new CollectedBytes(isSuccess(status) ? most : Math.min(most, mostErrorBytes));
      },
      onResponseData(controller, chunk) {
        if (body.add(chunk)) return;
        // An error is an error whatever the length of its explanation.
        if (isSuccess(head.status))
          settle(() => reject(tooLarge(head.status, hop.maxBodyBytes, body.bytes())));
        else finish();
        controller.abort(new Error('too large'));
      },
      onResponseEnd: finishFree,
      onResponseError(_, error) {
        // If undici refuses to send the request, that is our bug, not the network's.
        if ('code' in error && error.code === 'UND_ERR_INVALID_ARG') settle(() => reject(error));
        const proxied = error instanceof ProxyFault && hop.proxy !== null;
        const fault = proxied
          ? proxyError(error, url, hop.proxy as URL, hop.names)
          : networkError(error, url, sending !== undefined, hop.names);
        settle(() => reject(fault));
      },
    });
  });
}
