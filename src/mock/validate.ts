import * as z from 'zod/mini';
import type { Endpoint, Schema } from '../contract/endpoint.ts';
import { faultOf, mismatches } from '../contract/issues.ts';
import type { RawQuery } from './exchange.ts';
import { MockError } from './response.ts';

/** @param where the part of the request, `body` or `query` */
export function checkValue<Out>(
  schema: Schema<Out, unknown>,
  value: unknown,
  where: string,
  refuse: (problems: string) => Error,
): Out {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const faults = mismatches(schema, value, { hidden: 'texts' }).map((mismatch) =>
    faultOf(mismatch, `${where}.${mismatch.field}`.replace(/\.(?=\[|$)/, '')),
  );
  throw refuse(faults.join('; '));
}

export function invalidBody(details: string): MockError {
  return new MockError(422, 'Invalid request body', details);
}

/** Checks a body against a schema: the API's, or the mock's own where the API describes none. */
export function requireBody<Out>(schema: Schema<Out, unknown>, value: unknown): Out {
  return checkValue(schema, value, 'body', invalidBody);
}

export function omit(
  body: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

/** The part `file` of a multipart body, as passed to handlers. */
export interface Upload {
  name: string;
  type: string;
  bytes: Uint8Array;
}

async function readUpload(contentType: string, bytes: Uint8Array): Promise<{ file: Upload }> {
  let form: FormData;
  try {
    form = await new Response(bytes, { headers: { 'content-type': contentType } }).formData();
  } catch {
    throw new MockError(400, 'The body is not multipart/form-data', 'body: could not be parsed');
  }
  const file = form.get('file');
  if (file === null || typeof file === 'string') throw invalidBody('body.file: required, as a file part');
  return { file: { name: file.name, type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) } };
}

export function jsonOfBytes(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new MockError(400, 'The body is not JSON', `body: ${(error as Error).message}`);
  }
}

/** Reads the body and checks it against the API's schema; undefined if there is none and none is required. */
export async function readCheckedBody(
  endpoint: Endpoint,
  contentType: string,
  bytes: Uint8Array,
): Promise<unknown> {
  if (endpoint.body === undefined) {
    if (bytes.length === 0) return undefined;
    throw invalidBody('body: this endpoint takes no body');
  }
  if (bytes.length === 0) {
    if (endpoint.bodyOptional) return undefined;
    throw invalidBody('body: required');
  }
  if (endpoint.multipart && /^multipart\/form-data\b/i.test(contentType))
    return readUpload(contentType, bytes);
  if (!/^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i.test(contentType)) {
    throw invalidBody(`Content-Type: expected application/json, got ${contentType || 'none'}`);
  }
  return requireBody(endpoint.body, jsonOfBytes(bytes));
}

/** Converts a query parameter, which is always text, to the number or boolean that the API declares. */
function typed(schema: unknown, value: string | string[]): unknown {
  const type = schema instanceof z.ZodMiniOptional ? schema.def.innerType : schema;
  if (type instanceof z.ZodMiniNumber && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) {
    return Number(value);
  }
  if (type instanceof z.ZodMiniBoolean && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

const noQuery: Schema<Record<string, unknown>> = z.strictObject({});

/** Returns the query with the API's types; an endpoint that declares no query accepts none. */
export function readQuery(endpoint: Endpoint, raw: RawQuery): Record<string, unknown> {
  const schema = endpoint.query ?? noQuery;
  const shape: Readonly<Record<string, unknown>> = schema instanceof z.ZodMiniObject ? schema.shape : {};
  const query = Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [name, typed(shape[name], value)]),
  );
  return checkValue(schema, query, 'query', (problems) => new MockError(422, 'Invalid query', problems));
}
