import type { ExchangeEvent } from '../../client/options.ts';
import type { Clock } from '../../clock.ts';
import { HttpError, NetworkError, RungateError, UnexpectedResponseError } from '../../errors.ts';
import { type JsonNode, parseJson } from '../../json/parse.ts';
import { excerpt } from '../../sanitize.ts';
import { isExpected } from '../../subject.ts';
import { shownUrl } from '../../transport/address.ts';
import type { PreparedRequest, Transport } from '../../transport/transport.ts';
import { ambiguousIn, parsePointer } from '../run-id.ts';
import type { PageReading } from './reads.ts';

export interface VersionPage {
  url: URL;
  /** A JSON pointer to the version; default: the whole body. */
  pointer?: string | undefined;
  /** The versions of which the page should show one: a commit, the digest of an image, or any other text. */
  expected: readonly string[];
  /** Headers of the request, by name in lower case. The credentials of the service are never sent. */
  headers: Readonly<Record<string, string>>;
}

/** Reports each read, as the client reports its requests. */
export interface ReadTrace {
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
  clock: Pick<Clock, 'monotonic'>;
}

/** A version page is short; a longer response is not read to its end. */
const maxBytes = 64 * 1024;
const maxText = 200;

/** Returns a function that reads the page once. It throws for errors that no later read can fix, and for an abort. */
export function versionReader(
  { url, pointer, expected, headers }: VersionPage,
  transport: Transport,
  { onExchange, clock }: ReadTrace,
): (options: { signal: AbortSignal; timeoutMs: number }) => Promise<PageReading> {
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
  const failed = (problem: string, hint?: string, status?: number): PageReading => ({
    error: new UnexpectedResponseError(`the deployed build could not be read: ${page}: ${problem}`, {
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
    onExchange?.({ type: 'request', endpoint, method, path: page, request: 1, ...outcome, elapsedMs });
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
      const match = expected.find((each) => isExpected(text, each));
      return { text: excerpt(text, maxText), matches: match !== undefined, version: match };
    } catch (error) {
      if (signal.aborted) throw error;
      if (error instanceof RungateError) report(began, { code: error.code });
      if (error instanceof NetworkError) {
        const message = `the deployed build could not be read: ${page}: ${error.message}`;
        return { error: new NetworkError(error.fault, message, { hint: error.hint }) };
      }
      if (error instanceof HttpError) return failed(error.message, error.hint, error.status);
      if (error instanceof UnexpectedResponseError) return failed(error.message, undefined, error.status);
      throw error;
    }
  };
}

/** The version in a response, or the reason why it has none, as a clause. */
export type Version = { text: string } | { problem: string };

function pointedText(body: string, pointer: string): Version {
  let json: JsonNode;
  try {
    json = parseJson(body);
  } catch {
    return { problem: 'the response is not JSON' };
  }
  const path = parsePointer(pointer);
  const twice = ambiguousIn(json, path);
  if (twice !== undefined) return { problem: `the response has "${twice}" twice` };
  const version = json.at(path);
  if (version === undefined) return { problem: `the response has nothing at ${pointer}` };
  const { value, text } = version;
  if (typeof value === 'string') return { text: value.trim() };
  // The text of a number keeps its digits: 1.10 is not 1.1.
  return typeof value === 'number' ? { text } : { problem: `${pointer} is not a string or a number` };
}

/**
 * Returns the version in the body of a version page: all of it, trimmed, or the string or number at a JSON pointer. Markup
 * is the page of a proxy or of an application without a version page, not a version.
 */
export function versionIn(body: string, pointer: string | undefined): Version {
  const version = pointer === undefined ? { text: body.trim() } : pointedText(body, pointer);
  if ('problem' in version) return version;
  if (version.text === '') return { problem: 'the version is empty' };
  // Compressed, in UTF-16, or binary.
  if (/(?![\t\n\r])\p{Cc}|\ufffd/u.test(version.text))
    return { problem: 'the response is not readable text' };
  return version.text.startsWith('<') ? { problem: 'the response is markup, not a version' } : version;
}
