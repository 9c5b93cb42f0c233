import type { ExchangeEvent } from '../../client/options.ts';
import type { Clock } from '../../clock.ts';
import { ContractError, HttpError, NetworkError, RungateError, type Say } from '../../errors.ts';
import { excerpt } from '../../sanitize.ts';
import { shownUrl } from '../../transport/address.ts';
import type { PreparedRequest, Transport } from '../../transport/transport.ts';
import type { Reading } from './observations.ts';
import { isExpected, versionIn } from './version.ts';

export interface VersionPage {
  url: URL;
  /** A JSON pointer to the version; default: the whole body. */
  pointer?: string | undefined;
  /** The version that the page should show: a commit, or any other text. */
  expected: string;
  /** Headers of the request, by name in lower case. The credentials of the service are never sent. */
  headers: Readonly<Record<string, string>>;
}

/** Reports each read, as the client reports its attempts. */
export interface ReadTrace {
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
  clock: Pick<Clock, 'monotonic'>;
  say: Say;
}

/** A version page is short; a longer response is not read to its end. */
const maxBytes = 64 * 1024;
const maxText = 200;

/** Returns a function that reads the page once. It throws for errors that no later read can fix, and for an abort. */
export function versionReader(
  { url, pointer, expected, headers }: VersionPage,
  transport: Transport,
  { onExchange, clock, say }: ReadTrace,
): (options: { signal: AbortSignal; timeoutMs: number }) => Promise<Reading> {
  const page = shownUrl(url);
  const request: PreparedRequest = {
    endpoint: 'deployed',
    method: 'GET',
    url,
    path: url.pathname,
    headers: {
      'user-agent': 'rungate',
      accept: pointer === undefined ? 'text/plain, */*;q=0.5' : 'application/json',
      // A cache may still have the version of the build before.
      'cache-control': 'no-cache',
      ...headers,
      'accept-encoding': 'identity',
    },
    maxReplyBytes: maxBytes,
    repeatable: true,
  };
  /** Errors of the page never have exit code 6, which is for the credentials of the service. */
  const failed = (problem: string, hint?: string, status?: number): Reading => ({
    error: new ContractError(`the deployed build could not be read: ${page}: ${problem}`, {
      field: pointer ?? '',
      expected: 'the version of the deployed build',
      received: problem,
      status,
      hint,
    }),
  });
  const report = (began: number, outcome: { status: number } | { code: string }) => {
    const { endpoint, method } = request;
    const elapsedMs = clock.monotonic() - began;
    onExchange?.({ type: 'try', endpoint, method, path: page, attempt: 1, ...outcome, elapsedMs });
  };
  return async ({ signal, timeoutMs }) => {
    const began = clock.monotonic();
    try {
      // Without a fresh connection, a load balancer would always show the same instance.
      const { status, text: body } = await transport.send(request, { signal, timeoutMs, fresh: true });
      report(began, { status });
      // 206 is a part of the body.
      if (status < 200 || status > 299 || status === 206) return failed(`HTTP ${status}`, undefined, status);
      const version = versionIn(body, pointer);
      if ('problem' in version) return failed(version.problem, undefined, status);
      const { text } = version;
      return { text: excerpt(text, maxText), matches: isExpected(text, expected) };
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof RungateError) report(began, { code: error.word(say).code });
      if (error instanceof NetworkError) {
        const message = `the deployed build could not be read: ${page}: ${error.message}`;
        return { error: new NetworkError(error.fault, message, { hint: error.hint }) };
      }
      if (error instanceof HttpError) return failed(error.message, error.hint, error.status);
      if (error instanceof ContractError) return failed(error.message, undefined, error.status);
      throw error;
    }
  };
}
