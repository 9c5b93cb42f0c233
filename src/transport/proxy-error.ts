import { HttpError, NetworkError } from '../errors.ts';
import { networkError, span } from './network-error.ts';

/** Why no tunnel through the proxy came about: what it answered, or what kept it from answering. */
export class ProxyFault extends Error {
  constructor(
    readonly status: number | null,
    cause?: unknown,
  ) {
    super('no tunnel', { cause });
  }
}

const check = 'check HTTPS_PROXY (HTTP_PROXY for http), or name the host in NO_PROXY if it needs no proxy';

/** A tunnel that did not come about, as one of our errors. Nothing was sent to the service. */
export function proxyError(fault: ProxyFault, target: URL, proxy: URL): HttpError | NetworkError {
  const { status, cause } = fault;
  if (status === 407) {
    const asked = `the proxy ${proxy.host} does not let us through to ${target.host}`;
    // A lasting refusal, as a 4xx of the service is: trying again could lock the account.
    return new HttpError(`${asked}: it wants a user name and a password, or others than it was given (407)`, {
      status,
      hint: 'give them in HTTPS_PROXY=http://user:password@host:port, with special characters percent-encoded',
    });
  }
  if (status !== null) {
    const why = status === 403 ? 'its rules forbid it' : 'it could not reach it';
    const text = `no connection to ${target.host} through the proxy ${proxy.host}: ${why} (${status})`;
    return new NetworkError('connect', text, { hint: check });
  }
  const { fault: kind, message, hint } = networkError(cause, proxy, false);
  return new NetworkError(kind, `no connection to ${target.host} through the proxy: ${message}`, {
    hint: kind === 'tls' ? `${hint}; ${check}` : check,
    cause,
  });
}

/** One try was over before the proxy had made a connection. */
export function proxyTimeout(target: URL, proxy: URL, timeoutMs: number): NetworkError {
  const text = `no connection to ${target.host} through the proxy ${proxy.host} within ${span(timeoutMs)}`;
  return new NetworkError('connect', text, { hint: check });
}
