import type { Endpoint, Schema } from '../contract/endpoint.ts';
import { faultOf, mismatches, noSuchField, zonedDateTime } from '../contract/issues.ts';
import { type NameOf, UsageError } from '../errors.ts';
import { fillPath, queryString } from '../transport/address.ts';
import type { PreparedRequest } from '../transport/transport.ts';
import { type Credentials, credentialHeader } from './credentials.ts';
import { checkHeaders } from './headers.ts';
import { looseFields } from './schema-mismatch.ts';

export interface RequestInput {
  /** Path parameters by name, not encoded. */
  params: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>> | undefined;
  /** JSON, checked against the endpoint's schema; an encoded form if the endpoint accepts `multipart/form-data`. */
  body?: unknown;
  /** The body as JSON text, instead of `body`: sent unchanged, with every digit. */
  json?: string | undefined;
  /** 1 to 255 visible ASCII characters. */
  idempotencyKey?: string | undefined;
  /** The media type of an encoded form. */
  contentType?: string | undefined;
}

/** The options of a client that its requests show. */
export interface Sender extends Credentials {
  readonly userAgent?: string | undefined;
  /** Checked (`checkExtraHeaders`), with their names in lower case. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** Names the options and the call in errors. */
  readonly nameOf: NameOf;
}

/** Methods that HTTP defines as safe to repeat. */
const safe: readonly string[] = ['GET', 'PUT', 'DELETE'];

/** Throws if a query or body does not match its schema, with all faults in one line. */
function refuse(name: string, part: 'query' | 'body', schema: Schema, value: unknown, nameOf: NameOf): void {
  const loose = new Set(part === 'body' ? looseFields(schema, value).map(({ field }) => field) : []);
  const wrong = mismatches(schema, value).filter(({ field }) => !loose.has(field));
  if (wrong.length === 0) return;
  const named = (field: string) => {
    if (field === '') return `the ${part}`;
    return part === 'query' ? nameOf('query', field) : `field ${field}`;
  };
  const { shape = {} }: { shape?: object } = schema._zod.def as object;
  const known = Object.keys(shape).join(', ');
  const isExpected = (what: string) => wrong.some(({ expected }) => expected === what);
  const hint = isExpected(zonedDateTime)
    ? 'write 2026-01-31 for its midnight in UTC, or 2026-01-31T14:00:00+02:00 as in RFC 3339'
    : undefined;
  const faults = wrong.slice(0, 5).map((mismatch) => faultOf(mismatch, named(mismatch.field)));
  throw new UsageError(nameOf('call', name) + faults.join('; '), {
    hint: isExpected(noSuchField) && known !== '' ? `the known names are ${known}` : hint,
  });
}

function checkQuery(name: string, endpoint: Endpoint, query: RequestInput['query'], nameOf: NameOf): string {
  if (endpoint.query === undefined) return '';
  // Leave out undefined and null: an option without a value is not a parameter.
  const values = Object.fromEntries(
    Object.entries(query ?? {}).filter(([, value]) => value !== undefined && value !== null),
  );
  refuse(name, 'query', endpoint.query, values, nameOf);
  // The schema may rewrite a value. Spread over the given query, so that the keys keep their order.
  return queryString({ ...values, ...endpoint.query.safeParse(values).data }, nameOf('call', name), nameOf);
}

function writeJson(name: string, body: unknown): string | undefined {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    throw new UsageError(`${name}: the body cannot be written as JSON`, { cause });
  }
}

function checkBody(
  name: string,
  endpoint: Endpoint,
  { json, body = json === undefined ? undefined : JSON.parse(json) }: Pick<RequestInput, 'body' | 'json'>,
  nameOf: NameOf,
): string | Uint8Array | undefined {
  if (endpoint.body === undefined || (body === undefined && endpoint.bodyOptional)) return undefined;
  if (endpoint.multipart && body instanceof Uint8Array) return body;
  const text = json ?? writeJson(name, body);
  refuse(name, 'body', endpoint.body, body, nameOf);
  return text;
}

function checkKey(name: string, endpoint: Endpoint, key: string, nameOf: NameOf): void {
  if (!endpoint.keyed) throw new UsageError(`${name} takes no idempotency key`);
  if (!/^[\x21-\x7e]{1,255}$/.test(key)) {
    throw new UsageError(
      `${nameOf('call', name)}the idempotency key must be 1 to 255 visible ASCII characters, without spaces`,
      { hint: 'use a key such as build-12' },
    );
  }
}

/**
 * Builds the request of one call. All checks happen before anything is sent.
 * @param base the service's base URL, checked (`parseApiUrl`)
 * @throws UsageError if a part of the call is invalid, CredentialError
 */
export function prepareRequest(
  name: string,
  endpoint: Endpoint,
  input: RequestInput,
  base: URL,
  sender: Sender,
): PreparedRequest {
  const { nameOf } = sender;
  const filled = fillPath(endpoint, input.params, nameOf('call', name));
  const query = checkQuery(name, endpoint, input.query, nameOf);
  const url = new URL(base.origin + base.pathname.replace(/(?<!\/)\/+$/, '') + filled + query);
  const body = checkBody(name, endpoint, input, nameOf);
  const path = url.pathname;
  const key = input.idempotencyKey;
  if (key !== undefined) checkKey(name, endpoint, key, nameOf);
  const { userAgent = 'rungate' } = sender;
  const headers = checkHeaders(name, { 'user-agent': userAgent });
  const contentType = typeof body === 'string' ? 'application/json' : input.contentType;
  if (contentType !== undefined) headers['content-type'] = contentType;
  Object.assign(headers, sender.headers);
  headers.accept = 'application/json';
  // Responses are small.
  headers['accept-encoding'] = 'identity';
  if (key !== undefined) headers['idempotency-key'] = key;
  Object.assign(headers, credentialHeader(`${endpoint.method} ${path}`, endpoint.auth, sender));
  const repeatable = safe.includes(endpoint.method) || endpoint.idempotent === true || key !== undefined;
  const { method, maxReplyBytes } = endpoint;
  const request = { endpoint: name, method, url, path, headers, repeatable, maxReplyBytes };
  return body === undefined ? request : { ...request, body };
}
