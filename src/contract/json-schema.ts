import type * as z from 'zod/mini';
import { toJSONSchema } from 'zod/v4/core';
import type { Schema } from './endpoint.ts';
import { shown } from './fields.ts';

export type Json = Record<string, unknown>;

const isEmpty = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** What zod writes that says nothing, or says how JavaScript reads rather than what the service sends. */
function tidy({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodTypes; jsonSchema: Json }): void {
  if (isEmpty(jsonSchema.properties)) delete jsonSchema.properties;
  if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
  // The interface says date-time; that we also read one without a zone is our leniency, not its promise.
  if ('format' in zodSchema._zod.def && zodSchema._zod.def.format === 'datetime') {
    delete jsonSchema.pattern;
    jsonSchema.format = 'date-time';
  }
}

/**
 * A schema of the contract as the JSON schema of OpenAPI 3.1. Those that have a name (`shown`) are put into
 * `components` and referred to.
 */
export function jsonSchema(schema: Schema, io: 'input' | 'output', components: Json): Json {
  const made: Json = toJSONSchema(schema, { io, metadata: shown, override: tidy });
  const text = JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/');
  const { $schema: _, $defs, ...rest } = JSON.parse(text) as Json & { $defs?: Record<string, Json> };
  for (const [name, { id: __, ...component }] of Object.entries($defs ?? {})) components[name] = component;
  return rest;
}
