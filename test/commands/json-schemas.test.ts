import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { createJsonSchema, documentNames, type JsonObject, schemaPath } from './json-schemas.ts';

it('the package exports the schemas', () => {
  const { resolve } = createRequire(import.meta.url);
  expect(resolve('rungate/schemas/gate.json')).toBe(schemaPath('gate'));
});

it('docs/schemas has no other files', () => {
  const files = readdirSync(dirname(schemaPath('gate')));
  expect(files.toSorted()).toEqual(documentNames.map((name) => `${name}.json`).toSorted());
});

/** Returns the paths of the fields that neither they nor their types describe. */
function fieldsWithoutText(schema: unknown, root: JsonObject, path = ''): string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([key, part]) => {
    if (key === 'if' || key === 'then') return [];
    if (key !== 'properties') return fieldsWithoutText(part, root, `${path}/${key}`);
    return Object.entries(part as Record<string, JsonObject>).flatMap(([name, field]) => {
      const here = `${path}/${name}`;
      const type = (root.$defs as Record<string, JsonObject>)?.[String(field.$ref).replace('#/$defs/', '')];
      const missing = (field.description ?? type?.description ?? '') === '' ? [here] : [];
      return [...missing, ...fieldsWithoutText(field, root, here)];
    });
  });
}

it('a field describes itself, not the other fields of its type', () => {
  const { GateReport, RunReport, Action } = createJsonSchema('gate').$defs as Record<string, JsonObject>;
  const texts = [GateReport?.properties, RunReport?.properties].map((fields) => {
    const { result, action } = fields as Record<string, JsonObject>;
    return (result ?? action)?.description;
  });
  expect(new Set([...texts, Action?.description]).size).toBe(3);
  expect(texts).not.toContain(undefined);
});

describe.each(documentNames)('the schema %s', (name) => {
  const schema = createJsonSchema(name);

  it('is valid by the draft that it names', () => {
    const ajv = new Ajv2020({
      // A list may begin with known entries and go on with others.
      strictTuples: false,
      strict: true,
      strictTypes: false,
      strictRequired: false,
      formats: { 'date-time': true },
    });
    expect(schema.$schema).toBe('https://json-schema.org/draft/2020-12/schema');
    expect(ajv.validateSchema(schema), ajv.errorsText()).toBe(true);
    expect(ajv.compile(schema)).toBeTypeOf('function');
  });

  it('describes every field', () => expect(fieldsWithoutText(schema, schema)).toEqual([]));

  it('accepts fields that a later version adds', () => {
    expect(JSON.stringify(schema)).not.toContain('"additionalProperties":false');
  });
});
