import type { Endpoint } from '../contract/endpoint.ts';
import { isRequired, itemSchema } from '../contract/shape.ts';
import { ContractError } from '../errors.ts';
import { commandNames, type HintNames } from '../hint-names.ts';
import type { Redact } from '../redact.ts';
import type { PreparedRequest, RawReply } from '../transport/transport.ts';
import { gist, isHtml, mayHaveNewSecret, oneLine, refusal } from './http-error.ts';
import { jsonLimits, jsonSize } from './json-text.ts';
import { type Page, readPage } from './list.ts';
import { type Mismatch, mismatchError, mismatches } from './schema-mismatch.ts';

/** The request as its user knows it: `GET /api/environments`. */
const requestText = ({ method, path }: PreparedRequest) => `${method} ${path}`;

/** How the message about a response begins. */
const responseTo = (request: PreparedRequest) => `the response to ${requestText(request)}`;

/** How to see what came, and for a read the way around the check. */
function lookHint({ endpoint, method, url, path, redact }: PreparedRequest, names: HintNames): string {
  if (method !== 'GET' || endpoint === 'api') return names.look;
  // Below the base URL, which may have a path of its own.
  const target = redact(path.slice(path.lastIndexOf('/api/')) + url.search);
  return `${names.look}; ${names.unchecked(target)}`;
}

/** A success that cannot be read: more likely a broken transfer than a changed service. */
function unreadable(
  request: PreparedRequest,
  reply: RawReply,
  received: string,
  names: HintNames,
): ContractError {
  return new ContractError(`${responseTo(request)} (${reply.status}) is not JSON: ${received}`, {
    field: '',
    expected: 'JSON',
    received,
    status: reply.status,
    unreadable: true,
    hint: isHtml(reply.text)
      ? `check ${names.apiUrl}: what answers there may not be the service`
      : lookHint(request, names),
  });
}

function checkEncoding(request: PreparedRequest, reply: RawReply): void {
  const encoding = reply.headers['content-encoding']?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return;
  const expected = 'a reply that is not compressed';
  const received = `content-encoding ${oneLine(encoding, 100, request.redact)}`;
  throw new ContractError(`${responseTo(request)}: expected ${expected}, received ${received}`, {
    field: '',
    expected,
    received,
    status: reply.status,
    hint: 'nothing was asked to compress it: check the proxies on the way',
  });
}

function checkSize(request: PreparedRequest, { text, status }: RawReply, names: HintNames): void {
  const { depth, values } = jsonSize(text);
  if (depth <= jsonLimits.depth && values <= jsonLimits.values) return;
  const [problem, expected] =
    values > jsonLimits.values
      ? ['has too many values', `JSON with at most ${jsonLimits.values} values`]
      : ['is nested too deep', `JSON at most ${jsonLimits.depth} levels deep`];
  const parts = { field: '', expected, received: 'more', status, hint: names.look };
  throw new ContractError(`${responseTo(request)} ${problem}: expected ${expected}`, parts);
}

/** A success, read. */
export interface ReadReply {
  /** The parsed JSON; undefined for an empty body, and the body's text where it is not JSON and need not be. */
  value: unknown;
  /** What in it is not as the contract says, where the contract does not require it. */
  odd: readonly Mismatch[];
  /** The body as JSON text: as it came, or as a string where it is not JSON; empty for an empty body. */
  text: string;
  isJson: boolean;
}

function parse(request: PreparedRequest, endpoint: Endpoint, reply: RawReply, names: HintNames): ReadReply {
  const { text } = reply;
  // What was created under a key is asked for again under that key, where not even an address was given.
  const lost = endpoint.idInReply === true && reply.headers.location === undefined;
  // The status code says that it was done, and the contract does not say what the body is.
  const mayBeAnything =
    endpoint.anyBody === true || endpoint.reply.safeParse(text.trim() === '' ? undefined : text).success;
  const anyBody = !lost && mayBeAnything;
  if (text.trim() === '') {
    const isEmptyList = endpoint.list === true && reply.status === 204;
    if (anyBody || isEmptyList) return { value: undefined, odd: [], text: '', isJson: true };
    throw unreadable(request, reply, 'an empty body', names);
  }
  checkSize(request, reply, names);
  try {
    return { value: JSON.parse(text), odd: [], text, isJson: true };
  } catch {
    // A list that is not JSON has no items.
    if (anyBody && !endpoint.list) return { value: text, odd: [], text: JSON.stringify(text), isJson: false };
    // The parser's own message quotes the reply, which may hold a secret.
    const hidden = mayHaveNewSecret(endpoint, reply.status) && !isHtml(text);
    throw unreadable(request, reply, hidden ? 'text' : gist(text, request.redact), names);
  }
}

/** What is wrong in the items of a list, which may come in any shape that `readPage` reads. */
function oddItems({ reply }: Endpoint, { items, field }: Page, redact: Redact): Mismatch[] {
  const item = itemSchema(reply);
  if (item === undefined) return [];
  const at = field === undefined ? [] : [field];
  return items.flatMap((one, index) => mismatches(item, one, redact, { at: [...at, index], sent: true }));
}

/**
 * Reads a response: what the endpoint's schema says, or any JSON where `check` is false. Where the contract does not
 * show the response, it may be anything: nothing, JSON, or text.
 * @throws HttpError when the status is not a success, ContractError when the body is not what it must be
 */
export function readReply(
  request: PreparedRequest,
  endpoint: Endpoint,
  reply: RawReply,
  { now, check, names = commandNames }: { now: number; check: boolean; names?: HintNames | undefined },
): ReadReply {
  if (reply.status < 200 || reply.status > 299)
    throw refusal(request, reply, now, names, mayHaveNewSecret(endpoint, reply.status));
  checkEncoding(request, reply);
  const read = parse(request, endpoint, reply, names);
  if (!check) return read;
  const { value } = read;
  const hint = lookHint(request, names);
  const page = endpoint.list ? readPage(value, request.redact) : undefined;
  if (page !== undefined)
    return { ...read, odd: [...page.oddFields, ...oddItems(endpoint, page, request.redact)] };
  // An item that the contract does not show may be no object at all.
  const isItem = endpoint.anyBody === true && endpoint.list !== true;
  const found = mismatches(endpoint.reply, value, request.redact, {
    hidden: endpoint.newSecret,
    sent: true,
  }).filter(({ path }) => !isItem || path.length > 0);
  const first = found.find(
    ({ path, sentence }) => sentence !== undefined || isRequired(endpoint.reply, path),
  );
  if (first === undefined) return { ...read, odd: found };
  const { field, expected, received } = first;
  const parts = { field, expected, received, status: reply.status, hint };
  throw mismatchError(requestText(request), parts, found.length - 1);
}
