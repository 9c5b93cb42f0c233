import type * as z from 'zod/mini';
import type { Endpoint, Schema } from '../contract/endpoint.ts';
import { MockError } from './reply.ts';

type Issue = z.core.$ZodIssue;

function at(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (inner, key) => (inner as Record<PropertyKey, unknown> | undefined)?.[key],
    value,
  );
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function sized(issue: { origin: string; minimum: number | bigint }): string {
  if (issue.origin === 'string') return 'must not be empty';
  if (issue.origin === 'array')
    return `expected at least ${issue.minimum} item${issue.minimum === 1 ? '' : 's'}`;
  return `expected at least ${issue.minimum}`;
}

function what(issue: Issue, value: unknown): string {
  switch (issue.code) {
    case 'invalid_type': {
      const received = at(value, issue.path);
      return received === undefined ? 'required' : `expected ${issue.expected}, got ${typeOf(received)}`;
    }
    case 'too_small':
      return sized(issue);
    case 'unrecognized_keys':
      return 'unknown field';
    case 'invalid_format':
      return `expected the format ${issue.format}`;
    default:
      return issue.message;
  }
}

/**
 * What is wrong with a request, each field by its name: `body.tags[0]: must not be empty; body.shop: unknown field`.
 * `where` is the part of the request, `body` or `query`.
 */
export function describeProblems(where: string, value: unknown, issues: readonly Issue[]): string {
  const name = (path: readonly PropertyKey[]) =>
    path.reduce<string>(
      (text, key) => (typeof key === 'number' ? `${text}[${key}]` : `${text}.${String(key)}`),
      where,
    );
  return issues
    .flatMap((issue) => {
      const paths =
        issue.code === 'unrecognized_keys' ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
      return paths.map((path) => `${name(path)}: ${what(issue, value)}`);
    })
    .join('; ');
}

export function invalidBody(details: string): MockError {
  return new MockError(422, 'Invalid request body', details);
}

/** Checks a body against a schema of the contract's, or against one of the mock's own where the contract shows none. */
export function checkBody<Out>(schema: Schema<Out, unknown>, value: unknown): Out {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidBody(describeProblems('body', value, result.error.issues));
}

/** Fields by name taken out: what is left of a body are fields that the mock does not know. */
export function without(
  body: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(Object.entries(body).filter(([name]) => !names.includes(name)));
}

/** The part `file` of a multipart body, as handlers get it. */
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
    throw new MockError(400, 'The body is not multipart/form-data', 'body: could not be taken apart');
  }
  const file = form.get('file');
  if (file === null || typeof file === 'string') throw invalidBody('body.file: required, as a file part');
  return { file: { name: file.name, type: file.type, bytes: new Uint8Array(await file.arrayBuffer()) } };
}

function parseJson(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    throw new MockError(400, 'The body is not JSON', `body: ${(error as Error).message}`);
  }
}

/** The body, checked by the contract's schema; undefined where there is none and none is needed. */
export async function readBody(endpoint: Endpoint, contentType: string, bytes: Uint8Array): Promise<unknown> {
  if (endpoint.body === undefined) {
    if (bytes.length === 0) return undefined;
    throw invalidBody('body: this endpoint takes none');
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
  return checkBody(endpoint.body, parseJson(bytes));
}
