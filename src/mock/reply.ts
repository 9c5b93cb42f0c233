/** The error body of the interface, section 7. */
export interface ErrorBody {
  error: string;
  details?: string;
}

/** Thrown wherever the mock refuses a request; becomes a reply with the interface's error body. */
export class MockError extends Error {
  readonly status: number;
  readonly details: string | undefined;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    error: string,
    details?: string,
    headers: Readonly<Record<string, string>> = {},
  ) {
    super(error);
    this.name = 'MockError';
    this.status = status;
    this.details = details;
    this.headers = headers;
  }

  get body(): ErrorBody {
    return this.details === undefined
      ? { error: this.message }
      : { error: this.message, details: this.details };
  }
}

/** What was looked up, or 404: what another tenant has is as unknown as what nobody has. */
export function known<T>(item: T | undefined, what: string, id: string): T {
  if (item !== undefined) return item;
  throw new MockError(404, `${what} not found`, `there is no ${what.toLowerCase()} ${JSON.stringify(id)}`);
}
