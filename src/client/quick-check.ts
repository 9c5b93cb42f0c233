import type { Schema } from '../contract/endpoint.ts';

/** The parts of zod's own description of a schema that are read here. */
interface Definition {
  readonly type: string;
  readonly checks?: readonly unknown[];
  readonly coerce?: boolean;
  readonly format?: string;
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly catchall?: Schema;
}

/** True for a value that surely fits; false where only zod can tell. */
type Fits = (value: unknown) => boolean;

function definition(schema: Schema): Definition {
  return schema._zod.def as unknown as Definition;
}

function ofNumber(format: string | undefined): Fits | undefined {
  if (format === undefined) return Number.isFinite;
  return format === 'safeint' ? Number.isSafeInteger : undefined;
}

function ofObject({ shape = {}, catchall }: Definition): Fits | undefined {
  if (catchall !== undefined && definition(catchall).type !== 'unknown') return undefined;
  const fields = Object.entries(shape).map(([name, field]) => ({ name, fits: compile(field) }));
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
    for (const { name, fits } of fields) if (!fits((value as Record<string, unknown>)[name])) return false;
    return true;
  };
}

function known(def: Definition): Fits | undefined {
  const { type, format, innerType, element } = def;
  if (def.coerce || (def.checks ?? []).length > 0) return undefined;
  if (type === 'unknown') return () => true;
  if (type === 'boolean') return (value) => typeof value === 'boolean';
  if (type === 'string') return format === undefined ? (value) => typeof value === 'string' : undefined;
  if (type === 'number') return ofNumber(format);
  if (type === 'object') return ofObject(def);
  if (element !== undefined && type === 'array') {
    const fits = compile(element);
    return (value) => Array.isArray(value) && value.every(fits);
  }
  if (innerType === undefined) return undefined;
  const fits = compile(innerType);
  if (type === 'optional') return (value) => value === undefined || fits(value);
  return type === 'nullable' ? (value) => value === null || fits(value) : undefined;
}

function compile(schema: Schema): Fits {
  return known(definition(schema)) ?? ((value) => schema.safeParse(value).success);
}

/**
 * The same schema for a reader who keeps the value that is checked: one that fits is not copied, which for a page
 * of a thousand items is most of the work. What does not surely fit is judged by the schema itself.
 */
export function quickCheck<S extends Schema>(schema: S): S {
  const fits = compile(schema);
  const safeParse: S['safeParse'] = (value, params) =>
    fits(value) ? { success: true, data: value } : schema.safeParse(value, params);
  return Object.assign(Object.create(schema) as S, { safeParse });
}
