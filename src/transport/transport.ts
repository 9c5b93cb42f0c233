import type { Method } from '../contract/endpoint.ts';
import type { Redact } from '../redact.ts';

/** A request, complete: sending it again sends the same bytes. */
export interface PreparedRequest {
  /** The endpoint's dotted name. */
  readonly endpoint: string;
  readonly method: Method;
  readonly url: URL;
  /** The URL's path, prefix included, for messages: never the query, which could hold a secret. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** What the response may have, where the endpoint says so. */
  readonly maxReplyBytes?: number | undefined;
  /** Sending it twice has the effect of sending it once. */
  readonly repeatable: boolean;
  /** Takes secrets out of what is shown of the exchange: applied before a text is shortened. */
  readonly redact: Redact;
}

/** A reply as it came over the wire. */
export interface RawReply {
  status: number;
  /** Names in lower case; a header that came several times is joined by `, `. */
  headers: Record<string, string>;
  /** The body, decoded leniently: what is not UTF-8 becomes U+FFFD. */
  text: string;
  /** Where the reply came from, when a redirect was followed. */
  finalUrl?: string;
}

/** What one try of a request may take; times in milliseconds. */
export interface SendOptions {
  signal?: AbortSignal | undefined;
  /** For the whole try, from connecting to the last byte of the body, redirects included. */
  timeoutMs: number;
  /** Use a connection that nothing was sent over before: a reused one may be reset under the request. */
  fresh?: boolean | undefined;
}

/** What sends requests: the network, unless a client is given another. */
export interface Transport {
  /**
   * Sends one request once and reads its reply, whatever its status.
   * @throws NetworkError, HttpError for a redirect that is not followed, ContractError for a reply that is too
   * large, or the signal's reason
   */
  send(request: PreparedRequest, options: SendOptions): Promise<RawReply>;
  /** Ends every connection, also one in use; nothing is left behind that keeps the process alive. */
  close(): Promise<void>;
}
