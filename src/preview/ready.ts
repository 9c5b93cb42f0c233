import type { ExchangeEvent } from '../client/options.ts';
import type { Clock } from '../clock.ts';
import { formatDuration } from '../duration.ts';
import {
  HttpError,
  MismatchError,
  type NameOf,
  NetworkError,
  RungateError,
  UnexpectedResponseError,
} from '../errors.ts';
import { shownUrl } from '../transport/address.ts';
import type { PreparedRequest, Transport } from '../transport/transport.ts';

const everyMs = 1_000;
/** The timeout of one read. */
const readMs = 10_000;
/** A read that begins just before the deadline gets this time. */
const leastReadMs = 1_000;

interface ReadyTools {
  transport: Transport;
  clock: Clock;
  nameOf: NameOf;
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
  signal: AbortSignal;
}

/** The outcome of one read: the status code of a page that is ready, or why it is not. */
type Reading = { status: number; elsewhere?: string } | { problem: string; cause?: RungateError };

const isReady = (status: number | undefined) => status !== undefined && status >= 200 && status < 400;

async function readOnce(url: URL, timeoutMs: number, tools: ReadyTools): Promise<Reading> {
  const { transport, signal } = tools;
  const request: PreparedRequest = {
    endpoint: 'preview',
    method: 'GET',
    url,
    path: url.pathname,
    headers: { 'user-agent': 'rungate', accept: '*/*', 'cache-control': 'no-cache' },
    // Only the status code counts, and a stream may never end.
    maxReplyBytes: 0,
    repeatable: true,
  };
  try {
    const { status } = await transport.send(request, { signal, timeoutMs, fresh: true });
    return isReady(status) ? { status } : { problem: `HTTP ${status}` };
  } catch (error) {
    if (signal.aborted || !(error instanceof RungateError)) throw error;
    const { message } = error;
    // A page that is longer than a status needs, or a redirect that rungate does not follow.
    if (error instanceof UnexpectedResponseError && isReady(error.status))
      return { status: error.status ?? 0 };
    if (error instanceof HttpError && isReady(error.status))
      return { status: error.status, elsewhere: message };
    if (error instanceof NetworkError || error instanceof HttpError)
      return { problem: message, cause: error };
    throw error;
  }
}

/**
 * Reads a URL once a second until the response is 2xx or 3xx. Credentials are never sent to it. Returns a warning about a redirect to another
 * origin, which is often a login page; otherwise null.
 * @throws MismatchError if it does not respond in time, or the signal's reason
 */
export async function untilReady(url: URL, timeoutMs: number, tools: ReadyTools): Promise<string | null> {
  const { clock, nameOf, signal, onExchange } = tools;
  const shown = shownUrl(url);
  const deadline = clock.monotonic() + timeoutMs;
  for (;;) {
    const began = clock.monotonic();
    const reading = await readOnce(url, Math.min(readMs, Math.max(leastReadMs, deadline - began)), tools);
    onExchange?.({
      type: 'request',
      endpoint: 'preview',
      method: 'GET',
      path: shown,
      request: 1,
      ...('problem' in reading ? { code: reading.problem } : { status: reading.status }),
      elapsedMs: clock.monotonic() - began,
    });
    if (!('problem' in reading)) {
      const { elsewhere } = reading;
      return elsewhere === undefined
        ? null
        : `${shown}: ${elsewhere}: if that is a login page, the tests see it as well`;
    }
    const { problem, cause } = reading;
    const leftMs = deadline - clock.monotonic();
    if (leftMs <= 0)
      throw new MismatchError(
        `the deployment did not respond within ${formatDuration(timeoutMs)}: ${shown}: ${problem}`,
        {
          hint:
            cause?.hint ??
            `check that it is deployed and needs no login; ${nameOf('preview.readyUrl')} names another page to wait for, ${nameOf('preview.readyTimeout')} a longer time`,
        },
      );
    await clock.sleep(Math.min(everyMs, leftMs), signal);
  }
}
