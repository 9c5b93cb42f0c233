import { defaultPageSize } from '../contract/fields.ts';

/** A response before it is sent. `Content-Length` follows from the body. */
export interface RawResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export function textResponse(
  status: number,
  text: string,
  headers: RawResponse['headers'] = {},
): RawResponse {
  return { status, headers, body: Buffer.from(text) };
}

export function jsonResponse(
  status: number,
  value: unknown,
  headers: RawResponse['headers'] = {},
): RawResponse {
  return textResponse(status, JSON.stringify(value), { 'content-type': 'application/json', ...headers });
}

/** Thrown when the mock refuses a request. */
export class MockError extends Error {
  override readonly name = 'MockError';
  readonly status: number;
  readonly details: string;
  readonly headers: RawResponse['headers'];

  constructor(status: number, error: string, details: string, headers: RawResponse['headers'] = {}) {
    super(error);
    this.status = status;
    this.details = details;
    this.headers = headers;
  }
}

/** Returns the error body; 500 for any error that is not a `MockError`. */
export function errorResponse(error: unknown): RawResponse {
  if (!(error instanceof MockError))
    return errorResponse(new MockError(500, 'The mock failed', (error as Error).message));
  const { status, message, details, headers } = error;
  return jsonResponse(status, { error: message, details }, headers);
}

/** Returns an item that was found; throws 404 otherwise. */
export function requireFound<T>(item: T | undefined, what: string, id: string): T {
  if (item !== undefined) return item;
  throw new MockError(404, `${what} not found`, `no ${what.toLowerCase()} has the id ${JSON.stringify(id)}`);
}

/** A type, not an interface, because a page may have more fields. */
export type MockPage<T> = {
  items: T[];
  totalCount: number;
  page: number;
  pageSize: number;
  totalPages: number;
  hasNextPage: boolean;
  hasPreviousPage: boolean;
};

export interface RequestedPage {
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** The API does not state a maximum. */
const maxPageSize = 100;

/** Returns one page of a list. A page beyond the end is empty, not an error. */
export function servedPage<T, Sent>(
  list: readonly T[],
  query: RequestedPage,
  sent: (item: T) => Sent,
): MockPage<Sent> {
  const { page = 1, pageSize = defaultPageSize } = query;
  if (pageSize > maxPageSize) {
    const details = `query.pageSize must be a number of at most ${maxPageSize}, not ${pageSize}`;
    throw new MockError(422, 'Invalid query', details);
  }
  const totalPages = Math.ceil(list.length / pageSize);
  return {
    items: list.slice((page - 1) * pageSize, page * pageSize).map(sent),
    totalCount: list.length,
    page,
    pageSize,
    totalPages,
    hasNextPage: page < totalPages,
    hasPreviousPage: page > 1,
  };
}
