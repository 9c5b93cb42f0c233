import type { Method } from '../contract/endpoint.ts';

/** A complete request: sending it again sends the same bytes. */
export interface PreparedRequest {
  /** The endpoint's dotted name. */
  readonly endpoint: string;
  readonly method: Method;
  readonly url: URL;
  /** The URL's path with its prefix, for messages; without the query, which may contain a secret. */
  readonly path: string;
  /** Header names are in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** The size limit of the response, if the endpoint has its own. */
  readonly maxReplyBytes?: number | undefined;
  /** Whether sending it twice has the same effect as sending it once. */
  readonly repeatable: boolean;
}

/** A response before it is parsed. */
export interface RawReply {
  status: number;
  /** Header names are in lower case; the values of a repeated header are joined by `, `. */
  headers: Record<string, string>;
  /** The body as text; bytes that are not UTF-8 become U+FFFD. */
  text: string;
}

/** The limits of one request; times in milliseconds. */
export interface SendOptions {
  signal?: AbortSignal | undefined;
  /** The time limit of the whole request, from connecting to the last byte of the body, redirects included. */
  timeoutMs: number;
  /** The remedy for a response that is not complete within that time. */
  timeoutHint?: string | undefined;
  /** Use a new connection: the service may reset a reused one during the request. */
  fresh?: boolean | undefined;
  /**
   * Receives the body of a 2xx as it arrives, each part in another turn of the event loop, for a response without an end; its
   * text is then empty. An error that it throws ends the request.
   */
  onData?: ((part: Uint8Array) => void) | undefined;
}

/** Sends requests. A client uses the network unless it is given another transport. */
export interface Transport {
  /**
   * Sends a request once and reads the response, whatever its status code.
   * @throws NetworkError, HttpError for a redirect that is not followed, UnexpectedResponseError for a response that is too
   * large, or the signal's reason
   */
  send(request: PreparedRequest, options: SendOptions): Promise<RawReply>;
  /** Closes every connection, including those in use, so that nothing keeps the process alive. */
  close(): Promise<void>;
}
