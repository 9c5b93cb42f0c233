import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { toJSONSchema } from 'zod/v4/core';
import { shown } from '../../src/contract/fields.ts';
import { documents } from '../generated/documents.ts';

export type JsonObject = Record<string, unknown>;
export type DocumentName = keyof typeof documents;

export const documentNames = Object.keys(documents) as DocumentName[];

/** The program that reads a document accepts fields that a later version adds. */
function open({ jsonSchema }: { jsonSchema: JsonObject }): void {
  const { additionalProperties } = jsonSchema;
  if (additionalProperties === false) delete jsonSchema.additionalProperties;
  if (JSON.stringify(additionalProperties) === '{}') jsonSchema.additionalProperties = true;
  if (typeof jsonSchema.id === 'string') jsonSchema.title = jsonSchema.id;
  delete jsonSchema.id;
  // Of lists that the code does not change.
  delete jsonSchema.readOnly;
}

/** Returns a published schema. Every object lists its fields; `additionalProperties` is true for those with others as well. */
export function createJsonSchema(name: DocumentName): JsonObject {
  const { about, schema } = documents[name];
  const { $schema, ...made } = toJSONSchema(schema, { metadata: shown, override: open }) as JsonObject;
  const description = made.description ?? `${about}.`;
  return { $schema, $id: `urn:rungate:schema:${name}`, ...made, title: about, description };
}

export const schemaPath = (name: string) =>
  fileURLToPath(new URL(`../../docs/schemas/${name}.json`, import.meta.url));

/** Returns a published schema that refuses every field that it does not describe. */
export function closedSchema(name: DocumentName): JsonObject {
  return JSON.parse(readFileSync(schemaPath(name), 'utf8'), (_key, value) =>
    value?.type === 'object' && value.properties !== undefined && value.additionalProperties === undefined
      ? { ...value, additionalProperties: false }
      : value,
  );
}
