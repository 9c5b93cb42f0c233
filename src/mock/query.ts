import * as z from 'zod/mini';
import type { Endpoint, Schema } from '../contract/endpoint.ts';
import { MockError } from './reply.ts';
import { describeProblems } from './validate.ts';

/** A query as it came: a name that came more than once has all its values. */
export type RawQuery = Readonly<Record<string, string | string[]>>;

export function parseQuery(search: string): RawQuery {
  const params = new URLSearchParams(search);
  return Object.fromEntries(
    [...new Set(params.keys())].map((name) => {
      const values = params.getAll(name);
      return [name, values.length === 1 ? (values[0] ?? '') : values];
    }),
  );
}

function inner(schema: unknown): unknown {
  return schema instanceof z.ZodMiniOptional ? inner(schema.def.innerType) : schema;
}

/** In a query everything is text: what the contract types as a number or a boolean is read as one. */
function coerce(schema: unknown, value: string | string[]): unknown {
  const type = inner(schema);
  if (type instanceof z.ZodMiniNumber && typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value)) {
    return Number(value);
  }
  if (type instanceof z.ZodMiniBoolean && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

const noQuery: Schema<Record<string, unknown>> = z.strictObject({});

/** The query, typed by the contract; an endpoint that declares none takes none. */
export function readQuery(endpoint: Endpoint, raw: RawQuery): Record<string, unknown> {
  const schema = endpoint.query ?? noQuery;
  const shape: Readonly<Record<string, unknown>> = schema instanceof z.ZodMiniObject ? schema.shape : {};
  const typed = Object.fromEntries(
    Object.entries(raw).map(([name, value]) => [name, coerce(shape[name], value)]),
  );
  const result = schema.safeParse(typed);
  if (result.success) return result.data;
  throw new MockError(422, 'Invalid query', describeProblems('query', typed, result.error.issues));
}
