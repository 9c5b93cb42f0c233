import type { Dispatcher } from 'undici';
import { CollectedBytes } from '../collected-bytes.ts';
import { UnexpectedResponseError } from '../errors.ts';
import type { Receiver } from './address.ts';
import { decodeContent } from './content-coding.ts';
import { networkError, ProxyFault, proxyError } from './network-error.ts';
import type { Stop } from './stop.ts';
import type { PreparedRequest, RawReply } from './transport.ts';

/** One request to one URL; following a redirect is another hop. */
export interface Hop {
  request: PreparedRequest;
  url: URL;
  proxy: URL | null;
  stop: Stop;
  maxBodyBytes: number;
  onData?: ((part: Uint8Array) => void) | undefined;
  /** Returns the error with which the hop fails when it is stopped. */
  reason: (started: boolean) => unknown;
  to: Receiver;
}

const decoder = new TextDecoder();

/** The size limit of an error response. */
const maxErrorBytes = 1024 * 1024;

const isSuccess = (status: number) => status >= 200 && status < 300;

const limitOf = ({ status }: Head, { maxBodyBytes }: Hop) =>
  isSuccess(status) ? maxBodyBytes : Math.min(maxBodyBytes, maxErrorBytes);

/** Joins the values of a header that occurs several times. */
function joined(headers: Record<string, string | string[] | undefined>): Record<string, string> {
  const flat: Record<string, string> = {};
  for (const name of Object.keys(headers)) {
    const value = headers[name];
    if (value !== undefined) flat[name] = typeof value === 'string' ? value : value.join(', ');
  }
  return flat;
}

/** How much of an oversized body the error keeps, in bytes; it is shortened again before it is shown. */
const maxKeptBytes = 256 * 1024;

function tooLarge(status: number, limit: number, body: Uint8Array): UnexpectedResponseError {
  const expected = `a body of at most ${limit} bytes`;
  return new UnexpectedResponseError(`the response is too large: expected ${expected}`, {
    field: '',
    expected,
    received: 'more',
    status,
    body: decoder.decode(body.subarray(0, maxKeptBytes)),
  });
}

type Head = Omit<RawReply, 'text'>;

const replyOf = (head: Head, body: Uint8Array): RawReply => ({ ...head, text: decoder.decode(body) });

/** @throws UnexpectedResponseError for a success whose content is too large */
async function decodedReply(head: Head, body: Uint8Array, limit: number): Promise<RawReply> {
  const { 'content-encoding': coding = '', ...headers } = head.headers;
  const content = await decodeContent(coding, body, limit);
  if (content === null) return replyOf(head, body);
  const isTooLarge = content === 'too large';
  if (isTooLarge && isSuccess(head.status)) throw tooLarge(head.status, limit, new Uint8Array());
  return replyOf({ ...head, headers }, isTooLarge ? new Uint8Array() : content);
}

/** When the response arrives, a longer body may still be in transit, so its connection is not reused. */
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
    let head: Head = { status: 0, headers: {} };
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
    const finish = () => {
      const isPlain = head.headers['content-encoding'] === undefined;
      const response = isPlain
        ? replyOf(head, body.bytes())
        : decodedReply(head, body.bytes(), limitOf(head, hop));
      settle(() => resolve(response));
    };
    // undici frees the connection in the next turn of the event loop; a request sent earlier would open another one.
    const finishFree = () => queueMicrotask(() => setImmediate(finish));
    hop.stop.onCall = stop;
    dispatcher.dispatch(optionsOf(hop), {
      // Called once, just before the first byte is written; the connection is open and, for TLS, trusted.
      onRequestStart(controller) {
        if (hop.stop.called) controller.abort(new Error('stopped'));
        else sending = controller;
      },
      onResponseStart(controller, status, headers) {
        if (status === 101) controller.abort(new Error('it switched to another protocol'));
        head = { status, headers: joined(headers) };
        body = new CollectedBytes(limitOf(head, hop));
      },
      onResponseData(controller, chunk) {
        if (hop.onData !== undefined && isSuccess(head.status)) {
          try {
            hop.onData(chunk);
          } catch (error) {
            settle(() => reject(error));
            return controller.abort(new Error('refused'));
          }
          controller.pause();
          setImmediate(() => controller.resume());
          return;
        }
        if (body.add(chunk)) return;
        // An oversized error response is still the service's error.
        if (isSuccess(head.status))
          settle(() => reject(tooLarge(head.status, hop.maxBodyBytes, body.bytes())));
        else settle(() => resolve(replyOf(head, body.bytes())));
        controller.abort(new Error('too large'));
      },
      onResponseEnd: finishFree,
      onResponseError(_, error) {
        const proxied = error instanceof ProxyFault && hop.proxy !== null;
        const fault = proxied
          ? proxyError(error, url, hop.proxy as URL, hop.to)
          : networkError(error, url, sending !== undefined, hop.to);
        settle(() => reject(fault));
      },
    });
  });
}
