import type { Endpoint, Schema } from './endpoint.ts';
import { shown } from './fields.ts';

/** The type of a field, as far as the command line can express it. */
export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'strings' | 'json';

/** A field that the API describes, found in a schema. */
export interface Field {
  /** From the outermost object inwards: `['mobileRuntimeOverrides', 'deviceName']`. */
  readonly path: readonly string[];
  readonly type: FieldType;
  readonly required: boolean;
  /** A short description; empty without one. */
  readonly description: string;
}

/** The used parts of zod's definition of a schema. */
interface SchemaDefinition {
  readonly type: string;
  readonly format?: string;
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly catchall?: Schema;
}

function definition(schema: Schema): SchemaDefinition {
  return schema._zod.def as unknown as SchemaDefinition;
}

const wrappers = ['optional', 'nullable', 'default'];

function unwrap(schema: Schema): Schema {
  const { type, innerType } = definition(schema);
  return wrappers.includes(type) && innerType !== undefined ? unwrap(innerType) : schema;
}

function fieldType(def: SchemaDefinition): FieldType {
  if (def.type === 'number') return def.format === 'safeint' ? 'integer' : 'number';
  if (def.type === 'array' && def.element && definition(unwrap(def.element)).type === 'string')
    return 'strings';
  return def.type === 'string' || def.type === 'boolean' ? def.type : 'json';
}

/** Returns the fields of an object schema, with the leaves of an object field instead of the field. */
export function schemaFields(schema: Schema): Field[] {
  const { shape = {} } = definition(unwrap(schema));
  return Object.entries(shape).flatMap(([name, field]): Field[] => {
    const inner = definition(unwrap(field));
    const required = definition(field).type !== 'optional';
    if (inner.type === 'object' && Object.keys(inner.shape ?? {}).length > 0) {
      return schemaFields(field).map((leaf) => ({ ...leaf, path: [name, ...leaf.path], required: false }));
    }
    const { description = '' } = shown.get(field) ?? {};
    return [{ path: [name], type: fieldType(inner), required, description: String(description) }];
  });
}

/**
 * Returns whether the API requires the value at a path: every field on it is required, and none is an item of a list.
 * A field that the schema does not know is forbidden.
 */
export function isRequired(schema: Schema, path: readonly PropertyKey[]): boolean {
  const [name, ...rest] = path;
  if (name === undefined) return true;
  if (typeof name === 'number') return false;
  const { shape = {} } = definition(unwrap(schema));
  const field = Object.hasOwn(shape, name) ? shape[String(name)] : undefined;
  if (field === undefined) return true;
  return definition(field).type !== 'optional' && isRequired(field, rest);
}

export function isOpen(schema: Schema): boolean {
  const { catchall } = definition(unwrap(schema));
  return catchall !== undefined && definition(catchall).type === 'unknown';
}

/** Returns whether the response is a list, in any of the accepted shapes. */
export function isList({ list, response }: Endpoint): boolean {
  return list === true || itemSchema(response) !== undefined;
}

/** Returns the schema of one item of a list in any of the accepted shapes, or undefined. */
export function itemSchema(response: Schema): Schema | undefined {
  const def = definition(unwrap(response));
  if (def.type === 'array') return def.element;
  if (def.type === 'union') return (def as { options?: Schema[] }).options?.map(itemSchema).find(Boolean);
  const lists = Object.values(def.shape ?? {}).filter((field) => definition(field).type === 'array');
  return lists.length === 1 && lists[0] !== undefined ? definition(lists[0]).element : undefined;
}
