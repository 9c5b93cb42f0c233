import type { Schema } from '../contract/endpoint.ts';
import { MockError } from './error.ts';
import { describeProblems } from './problems.ts';

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
