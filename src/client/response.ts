import type { Endpoint } from '../contract/endpoint.ts';
import { type Mismatch, mismatches } from '../contract/issues.ts';
import { isRequired, itemSchema } from '../contract/shape.ts';
import { type NameOf, UnexpectedResponseError } from '../errors.ts';
import { jsonLimits, jsonSize } from '../json/tokens.ts';
import type { Redact } from '../redact.ts';
import type { PreparedRequest, RawReply } from '../transport/transport.ts';
import { gist, isHtml, mayHaveNewSecret, refusal } from './http-error.ts';
import { type Page, readPage } from './list.ts';
import { mismatchError } from './schema-mismatch.ts';

/** The request as the user knows it: `GET /api/environments`. */
const requestText = ({ method, path }: PreparedRequest) => `${method} ${path}`;

const responseTo = (request: PreparedRequest) => `the response to ${requestText(request)}`;

function lookHint({ endpoint, method, url, path }: PreparedRequest, nameOf: NameOf): string {
  if (method !== 'GET' || endpoint === 'api') return nameOf('look');
  // Relative to the base URL, which may have a path.
  const target = path.slice(path.lastIndexOf('/api/')) + url.search;
  return `${nameOf('look')}; ${nameOf('unchecked', target)}`;
}

/** Returns the error for a success that cannot be read, more likely after a broken transfer than a change of the service. */
function unreadable(
  request: PreparedRequest,
  response: RawReply,
  received: string,
  nameOf: NameOf,
): UnexpectedResponseError {
  return new UnexpectedResponseError(`${responseTo(request)} (${response.status}) is not JSON: ${received}`, {
    field: '',
    expected: 'JSON',
    received,
    status: response.status,
    unreadable: true,
    hint: isHtml(response.text)
      ? `check ${nameOf('apiUrl')}: it may not be the URL of the service`
      : lookHint(request, nameOf),
  });
}

function checkSize(request: PreparedRequest, { text, status }: RawReply, nameOf: NameOf): void {
  const { depth, values } = jsonSize(text);
  if (depth <= jsonLimits.depth && values <= jsonLimits.values) return;
  const [problem, expected] =
    values > jsonLimits.values
      ? ['has too many values', `JSON with at most ${jsonLimits.values} values`]
      : ['is nested too deeply', `JSON at most ${jsonLimits.depth} levels deep`];
  const parts = { field: '', expected, received: 'more', status, hint: nameOf('look') };
  throw new UnexpectedResponseError(`${responseTo(request)} ${problem}: expected ${expected}`, parts);
}

export interface ParsedResponse {
  /** The parsed JSON; undefined for an empty body, text for an accepted body that is not JSON. */
  value: unknown;
  /** The optional parts that do not match the API. */
  mismatches: readonly Mismatch[];
  /** The body as JSON text: unchanged, or as a string if it is not JSON; empty for an empty body. */
  text: string;
  isJson: boolean;
}

/** The parts of a response without a body. */
export const noBody: ParsedResponse = { value: undefined, mismatches: [], text: '', isJson: true };

interface ParseOptions {
  now: number;
  check: boolean;
  redact: Redact;
  nameOf: NameOf;
}

function parse(
  request: PreparedRequest,
  endpoint: Endpoint,
  response: RawReply,
  { redact, nameOf }: ParseOptions,
): ParsedResponse {
  const { text } = response;
  // Without a body or a location, a retry with the same key fetches the response again.
  const lost = endpoint.idInResponse === true && response.headers.location === undefined;
  // The status code says that the request succeeded, and the API does not describe the body.
  const mayBe = (body: string | undefined) =>
    !lost && (endpoint.anyBody === true || endpoint.response.safeParse(body).success);
  if (text.trim() === '') {
    const isEmptyList = endpoint.list === true && response.status === 204;
    if (isEmptyList || mayBe(undefined)) return noBody;
    throw unreadable(request, response, 'an empty body', nameOf);
  }
  checkSize(request, response, nameOf);
  try {
    return { value: JSON.parse(text), mismatches: [], text, isJson: true };
  } catch {
    // A list that is not JSON has no items.
    if (!endpoint.list && mayBe(text))
      return { value: text, mismatches: [], text: JSON.stringify(text), isJson: false };
    // The parser's message would quote the response, which may contain a secret.
    const hidden = mayHaveNewSecret(endpoint, response.status) && !isHtml(text);
    throw unreadable(request, response, hidden ? 'text' : gist(redact(text)), nameOf);
  }
}

function itemMismatches({ response }: Endpoint, { items, field }: Page): Mismatch[] {
  const item = itemSchema(response);
  if (item === undefined) return [];
  const list = field === undefined ? [] : [field];
  return items.flatMap((value, index) => mismatches(item, value, { at: [...list, index], sent: true }));
}

/**
 * Reads a response and checks it against the endpoint's schema, or accepts any JSON if `check` is false. A response that
 * the API does not describe may be empty, JSON or text.
 * @throws HttpError if the status code is not a success, UnexpectedResponseError if the body does not match
 */
export function parseResponse(
  request: PreparedRequest,
  endpoint: Endpoint,
  response: RawReply,
  options: ParseOptions,
): ParsedResponse {
  if (response.status < 200 || response.status > 299)
    throw refusal(request, response, { ...options, isHidden: mayHaveNewSecret(endpoint, response.status) });
  const read = parse(request, endpoint, response, options);
  if (!options.check) return read;
  const { value } = read;
  const page = endpoint.list ? readPage(value) : undefined;
  if (page !== undefined)
    return {
      ...read,
      mismatches: [...page.invalidFields, ...itemMismatches(endpoint, page)],
    };
  // An item that the API does not describe may be any JSON.
  const isItem = endpoint.anyBody === true && endpoint.list !== true;
  const wrong = mismatches(endpoint.response, value, {
    hidden: endpoint.newSecret,
    sent: true,
  }).filter(({ path }) => !isItem || path.length > 0);
  const first = wrong.find(
    ({ path, sentence }) => sentence !== undefined || isRequired(endpoint.response, path),
  );
  if (first === undefined) return { ...read, mismatches: wrong };
  const { field, expected, received } = first;
  const hint = lookHint(request, options.nameOf);
  const parts = { field, expected, received, status: response.status, hint };
  throw mismatchError(requestText(request), parts, wrong.length - 1);
}
