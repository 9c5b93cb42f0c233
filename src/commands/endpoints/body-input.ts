import type { Schema } from '../../contract/endpoint.ts';
import { secretName } from '../../contract/issues.ts';
import { type Field, schemaFields } from '../../contract/shape.ts';
import type { FileUpload } from '../../contract/types.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { readProblem } from '../../host/read-file.ts';
import { membersOf, objectText, parsedJson } from '../../json/text.ts';
import { readInput } from '../read-input.ts';
import { type FlagsOf, repeatable } from '../spec.ts';

/** `promoteToTicket` → `promote-to-ticket`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `device-name` → `deviceName`: the key of `--device-name` in commander. */
export function flagKey(field: Field): string {
  return field.path.at(-1) ?? '';
}

/** Returns the option key of a field: the name of its leaf. */
export function fieldFlag(field: Field): string {
  return `--${kebab(flagKey(field))}`;
}

/** The options for fields that the API does not describe. */
export const openOptions = {
  '--field <name=value>': repeatable('field of the body, as text (repeatable)'),
  '--json-field <name=json>': repeatable('field of the body, as JSON (repeatable)'),
  '--input <file>': 'JSON file with the body (- for standard input); options override its fields',
} as const;

/** The options of an endpoint: those above, and one for each field of its body and its query. */
export interface InputFlags extends FlagsOf<typeof openOptions> {
  textParam?: string;
  query?: string[];
  [flag: string]: unknown;
}

/** The fields of a body as JSON text: no digit passes through a float, and no name is special. */
type BodyFields = Map<string, string>;

/** Splits `name=value` at the first `=`. */
function splitPair(option: string, text: string): [string, string] {
  const index = text.indexOf('=');
  if (index > 0) return [text.slice(0, index), text.slice(index + 1)];
  const shown = secretName.test(text) ? 'a text that may be a secret' : `"${text}"`;
  throw new UsageError(`${option}: ${shown} is not name=value`, { hint: `write ${option} name=value` });
}

function checkJson(source: string, text: string): string {
  if (parsedJson(text) !== undefined) return text.trim();
  throw new UsageError(`${source} is not JSON`, {
    hint: 'text needs quotes in JSON; use --field to send it unchanged',
  });
}

async function readObject(io: Io, path: string): Promise<BodyFields> {
  let bytes: Uint8Array;
  try {
    bytes = path === '-' ? await io.readStdin() : io.readFile(path);
  } catch (cause) {
    // The message does not repeat the path: it may be a body with secrets.
    throw new UsageError(`--input cannot be read: ${readProblem(cause)}`, {
      hint: 'give a JSON file with the body, or - for standard input',
      cause,
    });
  }
  const text = new TextDecoder().decode(bytes).trim();
  if (text.startsWith('{') && parsedJson(text) !== undefined) return new Map(membersOf(text));
  throw new UsageError('--input is not a JSON object in UTF-8', {
    hint: 'a JSON body looks like {"name": "value"}, without comments',
  });
}

/** Sets the value at a path and creates the objects on the way. */
function setAt(body: BodyFields, path: readonly string[], json: string): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    body.set(name, json);
    return;
  }
  const inner: BodyFields = new Map(membersOf(body.get(name) ?? ''));
  setAt(inner, rest, json);
  body.set(name, objectText(inner));
}

function fieldValue(option: string, { type }: Field, given: unknown): unknown {
  if (typeof given !== 'string' || type === 'string' || type === 'strings') return given;
  if (type === 'json') return JSON.parse(checkJson(option, given));
  const number = given.trim() === '' ? Number.NaN : Number(given);
  if (Number.isFinite(number) && (type === 'number' || Number.isSafeInteger(number))) return number;
  throw new UsageError(`${option}: "${given}" is not ${type === 'integer' ? 'a whole number' : 'a number'}`);
}

/** A field that is given as an option, with its value and with the option's text. */
interface GivenField {
  field: Field;
  value: unknown;
  given: unknown;
}

/** @throws UsageError if an option is empty, as with an unset variable */
function givenFields(schema: Schema, flags: InputFlags, isBody: boolean): GivenField[] {
  return schemaFields(schema).flatMap((field) => {
    const given = flags[flagKey(field)];
    if (given === undefined) return [];
    const option = fieldFlag(field);
    if ([given].flat().some((text) => typeof text === 'string' && text.trim() === '')) {
      const canClear = isBody && field.path.length === 1;
      const clear = canClear ? `; to clear the field, use --json-field ${flagKey(field)}=null` : '';
      throw new UsageError(`${option} is empty`, { hint: `give ${option} a value, or leave it out${clear}` });
    }
    return [{ field, value: fieldValue(option, field, given), given }];
  });
}

/**
 * Returns the parameters of a query: of `--query`, the text to search for, and the options.
 * @param text the argument of a search
 * @throws UsageError if two of them are the same parameter
 */
export function queryOf(schema: Schema, text: unknown, flags: InputFlags): Record<string, unknown> {
  const fields = schemaFields(schema);
  const query: Record<string, unknown> = {};
  for (const pair of flags.query ?? []) {
    const [name, word] = splitPair('--query', pair);
    const field = fields.find(({ path }) => path[0] === name);
    const value = field === undefined ? word : fieldValue(`--query ${name}`, field, word);
    // A list is sent as one parameter for each value.
    query[name] = Object.hasOwn(query, name) ? [query[name], value].flat() : value;
  }
  const add = (name: string, value: unknown, source: string) => {
    if (!Object.hasOwn(query, name)) query[name] = value;
    else
      throw new UsageError(`${source} gives the parameter "${name}" a second time`, {
        hint: 'give it once',
      });
  };
  if (typeof text === 'string') add(flags.textParam ?? 'q', text, 'the text to search for');
  for (const { field, value } of givenFields(schema, flags, false))
    add(String(field.path[0]), value, fieldFlag(field));
  return query;
}

/**
 * Each of `--input`, `--field`, `--json-field` and the fields' options overrides those before it. Undefined without any.
 * @param schema the body of the endpoint; undefined for any body
 */
export async function requestBody(
  io: Io,
  flags: InputFlags,
  schema?: Schema | undefined,
): Promise<string | undefined> {
  const { field = [], jsonField = [], input } = flags;
  const given = schema === undefined ? [] : givenFields(schema, flags, true);
  if (input === undefined && field.length + jsonField.length + given.length === 0) return undefined;
  const body: BodyFields = input === undefined ? new Map() : await readObject(io, input);
  for (const text of field) {
    const [name, value] = splitPair('--field', text);
    body.set(name, JSON.stringify(value));
  }
  for (const text of jsonField) {
    const [name, value] = splitPair('--json-field', text);
    body.set(name, checkJson(`--json-field ${name}`, value));
  }
  for (const { field, value, given: text } of given) {
    // JSON is sent as it was given, with every digit.
    setAt(body, field.path, field.type === 'json' ? String(text) : JSON.stringify(value));
  }
  return objectText(body);
}

export async function attachmentOf(io: Io, path: string): Promise<FileUpload> {
  return { file: await readInput(io, '--file', path), name: path.split(/[\\/]/).at(-1) ?? 'file' };
}
