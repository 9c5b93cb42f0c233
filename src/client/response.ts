import type { Endpoint } from '../contract/endpoint.ts';
import { ContractError } from '../errors.ts';
import type { PreparedRequest, RawReply } from '../transport/transport.ts';
import { gist, isHtml, oneLine, refusal } from './http-error.ts';
import { deepestReply, isDeeper, isDeeperParsed, isFuller, mostValues } from './json-depth.ts';
import { mismatches } from './schema-mismatch.ts';

/** A success that cannot be read: more likely a broken transfer than a changed service. */
function unreadable(request: PreparedRequest, reply: RawReply, received: string): ContractError {
  return new ContractError(`${request.endpoint}: the reply (${reply.status}) is not JSON: ${received}`, {
    field: '',
    expected: 'JSON',
    received,
    status: reply.status,
    unreadable: true,
    hint: isHtml(reply.text) ? 'check RUNGATE_API_URL: what answers there may not be the service' : undefined,
  });
}

function checkEncoding(request: PreparedRequest, reply: RawReply): void {
  const encoding = reply.headers['content-encoding']?.trim().toLowerCase();
  if (encoding === undefined || encoding === '' || encoding === 'identity') return;
  const expected = 'a reply that is not compressed';
  const received = `content-encoding ${oneLine(encoding, 100, request.conceal)}`;
  throw new ContractError(`${request.endpoint}: expected ${expected}, received ${received}`, {
    field: '',
    expected,
    received,
    status: reply.status,
    hint: 'nothing was asked to compress it: check the proxies on the way',
  });
}

function tooDeep(request: PreparedRequest, reply: RawReply): ContractError {
  const [expected, received] = [`JSON at most ${deepestReply} levels deep`, 'more'];
  const message = `${request.endpoint}: the reply is nested too deep: expected ${expected}`;
  return new ContractError(message, { field: '', expected, received, status: reply.status });
}

function tooFull(request: PreparedRequest, reply: RawReply): ContractError {
  const [expected, received] = [`JSON with at most ${mostValues} values`, 'more'];
  const message = `${request.endpoint}: the response has too many values: expected ${expected}`;
  return new ContractError(message, { field: '', expected, received, status: reply.status });
}

function parse(request: PreparedRequest, endpoint: Endpoint, reply: RawReply): unknown {
  const { text } = reply;
  if (text.trim() === '') {
    // What was created under a key is asked for again under that key, where not even an address was given.
    const lost = endpoint.keyed === true && reply.headers.location === undefined;
    if (!lost && endpoint.reply.safeParse(undefined).success) return undefined;
    throw unreadable(request, reply, 'an empty body');
  }
  if (isFuller(text)) throw tooFull(request, reply);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // The parser's own message quotes the reply, which may hold a secret.
    throw isDeeper(text) ? tooDeep(request, reply) : unreadable(request, reply, gist(text, request.conceal));
  }
  if (isDeeperParsed(value, text)) throw tooDeep(request, reply);
  return value;
}

/**
 * The value of a reply: what the endpoint's schema says, or the parsed JSON as it came where `check` is false.
 * An empty body is undefined where the schema allows that.
 * @throws HttpError when the status is not a success, ContractError when the body is not what it should be
 */
export function readReply(
  request: PreparedRequest,
  endpoint: Endpoint,
  reply: RawReply,
  { now, check }: { now: number; check: boolean },
): unknown {
  if (reply.status < 200 || reply.status > 299) throw refusal(request, reply, now);
  checkEncoding(request, reply);
  const value = parse(request, endpoint, reply);
  if (!check) return value;
  const found = mismatches(endpoint.reply, value, request.conceal);
  const first = found[0];
  if (first === undefined) return value;
  const where = first.field === '' ? 'the reply' : first.field;
  const more = found.length > 1 ? ` (and ${found.length - 1} more)` : '';
  throw new ContractError(
    `${request.endpoint}: ${where} is not as the contract says: expected ${first.expected}, received ${first.received}${more}`,
    { field: first.field, expected: first.expected, received: first.received, status: reply.status },
  );
}
