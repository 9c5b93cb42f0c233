import type { Schema } from '../contract/endpoint.ts';
import { type Mismatch, mismatches } from '../contract/issues.ts';
import { isOpen, isRequired } from '../contract/shape.ts';
import { UnexpectedResponseError, type UnexpectedResponseErrorParts } from '../errors.ts';

/**
 * @param request the request as the user knows it: `GET /api/environments`
 * @param more the number of other mismatches
 */
export function mismatchText(
  request: string,
  { field, expected, received }: Omit<Mismatch, 'path'>,
  more = 0,
): string {
  const what =
    received === 'nothing'
      ? `${field === '' ? 'it' : field} is missing: expected ${expected}`
      : `${field === '' ? '' : `${field}: `}expected ${expected}, received ${received}`;
  const others = more > 0 ? ` (and ${more} more)` : '';
  return `the response to ${request} does not match the API: ${what}${others}`;
}

export function mismatchError(
  request: string,
  parts: UnexpectedResponseErrorParts,
  more = 0,
): UnexpectedResponseError {
  return new UnexpectedResponseError(mismatchText(request, parts, more), parts);
}

/** Values without a JSON form: JSON omits them, or writes null, which clears the field. */
const noJson = /^(?:function|symbol|number NaN|a (?:function|symbol)$)/;

/**
 * Returns the optional fields of a body that do not match the API. If the body may have unknown fields, these are sent
 * unchanged: a response may have had them in this form.
 */
export function looseFields(schema: Schema, body: unknown): Mismatch[] {
  if (!isOpen(schema)) return [];
  return mismatches(schema, body).filter(
    ({ path, sentence, received }) =>
      sentence === undefined && !isRequired(schema, path) && !noJson.test(received),
  );
}
