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
