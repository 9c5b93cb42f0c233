/** A response before it is sent. `Content-Length` is set from the body. */
export interface Reply {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export function textReply(status: number, text: string, headers: Reply['headers'] = {}): Reply {
  return { status, headers, body: Buffer.from(text) };
}

export function jsonReply(status: number, value: unknown, headers: Reply['headers'] = {}): Reply {
  return textReply(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers });
}

/** Thrown wherever the mock refuses a request. */
export class MockError extends Error {
  override readonly name = 'MockError';
  readonly status: number;
  readonly details: string;
  readonly headers: Reply['headers'];

  constructor(status: number, error: string, details: string, headers: Reply['headers'] = {}) {
    super(error);
    this.status = status;
    this.details = details;
    this.headers = headers;
  }
}

/** The error body of the interface, section 7; 500 for any error that is not a `MockError`. */
export function errorReply(error: unknown): Reply {
  if (!(error instanceof MockError))
    return errorReply(new MockError(500, 'The mock failed', (error as Error).message));
  const { status, message, details, headers } = error;
  return jsonReply(status, { error: message, details }, headers);
}

/** What was looked up, or 404: what another tenant has is as unknown as what nobody has. */
export function known<T>(item: T | undefined, what: string, id: string): T {
  if (item !== undefined) return item;
  throw new MockError(404, `${what} not found`, `there is no ${what.toLowerCase()} ${JSON.stringify(id)}`);
}
