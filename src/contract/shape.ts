import type { Endpoint, Schema } from './endpoint.ts';
import { shown } from './fields.ts';

/** What a field takes, as far as a command line can say it. */
export type FieldType = 'string' | 'integer' | 'number' | 'boolean' | 'strings' | 'json';

/** A field that the contract shows, found in a schema. */
export interface Field {
  /** From the outermost object inwards: `['mobileRuntimeOverrides', 'deviceName']`. */
  readonly path: readonly string[];
  readonly type: FieldType;
  readonly required: boolean;
  /** What it is, in a few words; empty where the contract does not say. */
  readonly description: string;
}

/** The parts of zod's own description of a schema that are read here. */
interface Definition {
  readonly type: string;
  readonly format?: string;
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly catchall?: Schema;
}

function definition(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition;
}

const wrappers = ['optional', 'nullable', 'default'];

/** The schema without what only says that it may be missing. */
function unwrap(schema: Schema): Schema {
  const { type, innerType } = definition(schema);
  return wrappers.includes(type) && innerType !== undefined ? unwrap(innerType) : schema;
}

function fieldType(def: Definition): FieldType {
  if (def.type === 'number') return def.format === 'safeint' ? 'integer' : 'number';
  if (def.type === 'array' && def.element && definition(unwrap(def.element)).type === 'string')
    return 'strings';
  return def.type === 'string' || def.type === 'boolean' ? def.type : 'json';
}

/** The fields of an object schema, the leaves of an object field instead of the field itself. */
export function fieldsOf(schema: Schema): Field[] {
  const { shape = {} } = definition(unwrap(schema));
  return Object.entries(shape).flatMap(([name, field]): Field[] => {
    const inner = definition(unwrap(field));
    const required = definition(field).type !== 'optional';
    if (inner.type === 'object' && Object.keys(inner.shape ?? {}).length > 0) {
      return fieldsOf(field).map((leaf) => ({ ...leaf, path: [name, ...leaf.path], required: false }));
    }
    const { description = '' } = shown.get(field) ?? {};
    return [{ path: [name], type: fieldType(inner), required, description: String(description) }];
  });
}

/**
 * True for a path at which the contract requires what it says: every field on it is required, and it leads into no item of
 * a list. A field that the schema does not know is one that it forbids.
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

/** True where fields that are not shown may be there too. */
export function isOpen(schema: Schema): boolean {
  const { catchall } = definition(unwrap(schema));
  return catchall !== undefined && definition(catchall).type === 'unknown';
}

/** True where the response is a list, in any of the shapes that lists have. */
export function isList({ list, response }: Endpoint): boolean {
  return list === true || itemSchema(response) !== undefined;
}

/** The schema of one item of a list, in any of the shapes that lists have; undefined where it is no list. */
export function itemSchema(response: Schema): Schema | undefined {
  const def = definition(unwrap(response));
  if (def.type === 'array') return def.element;
  if (def.type === 'union') return (def as { options?: Schema[] }).options?.map(itemSchema).find(Boolean);
  const lists = Object.values(def.shape ?? {}).filter((field) => definition(field).type === 'array');
  return lists.length === 1 && lists[0] !== undefined ? definition(lists[0]).element : undefined;
}
