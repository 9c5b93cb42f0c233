import { secretName } from '../../client/schema-mismatch.ts';
import type { FileUpload } from '../../contract/service-types.ts';
import type { Field } from '../../contract/shape.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { readProblem } from '../../host/read-file.ts';
import { membersOf, objectText } from '../../json/text.ts';

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
export interface OpenFlags {
  field?: string[];
  jsonField?: string[];
  input?: string;
}

/** The fields of a body as JSON text: no digit passes through a float, and no name is special. */
type BodyFields = Map<string, string>;

/** Splits `name=value` at the first `=`. */
export function splitPair(option: string, text: string): [string, string] {
  const index = text.indexOf('=');
  if (index > 0) return [text.slice(0, index), text.slice(index + 1)];
  const shown = secretName.test(text) ? 'a text that may be a secret' : `"${text}"`;
  throw new UsageError(`${option}: ${shown} is not name=value`, { hint: `write ${option} name=value` });
}

function checkJson(source: string, text: string): string {
  try {
    JSON.parse(text);
    return text.trim();
  } catch {
    throw new UsageError(`${source} is not JSON`, {
      hint: 'text needs quotes in JSON; use --field to send it unchanged',
    });
  }
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
  try {
    JSON.parse(text);
  } catch {
    throw new UsageError('--input is not JSON in UTF-8', {
      hint: 'a JSON body looks like {"name": "value"}, without comments',
    });
  }
  if (text.startsWith('{')) return new Map(membersOf(text));
  throw new UsageError('--input is JSON, but not an object', {
    hint: 'a body is an object: {"name": "value"}',
  });
}

/** Sets the value at a path and creates the objects on the way. */
function place(body: BodyFields, path: readonly string[], json: string): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    body.set(name, json);
    return;
  }
  const inner: BodyFields = new Map(membersOf(body.get(name) ?? ''));
  place(inner, rest, json);
  body.set(name, objectText(inner));
}

export function fieldValue(option: string, { type }: Field, given: unknown): unknown {
  if (typeof given !== 'string') return given;
  if (type === 'string' || type === 'strings') return given;
  if (type === 'json') return JSON.parse(checkJson(option, given));
  const number = given.trim() === '' ? Number.NaN : Number(given);
  if (Number.isFinite(number) && (type === 'number' || Number.isSafeInteger(number))) return number;
  throw new UsageError(`${option}: "${given}" is not ${type === 'integer' ? 'a whole number' : 'a number'}`);
}

/** Returns the value of an option as JSON, with every digit. */
function fieldJson({ option, field, given }: GivenField): string {
  const value = fieldValue(option, field, given);
  return field.type === 'json' ? String(given) : JSON.stringify(value);
}

export interface GivenField {
  option: string;
  field: Field;
  given: unknown;
}

/** Each of `--input`, `--field`, `--json-field` and the fields' options overrides those before it. Undefined without any. */
export async function requestBody(
  io: Io,
  flags: OpenFlags,
  shown: readonly GivenField[],
): Promise<string | undefined> {
  const { field = [], jsonField = [], input } = flags;
  if (input === undefined && field.length + jsonField.length + shown.length === 0) return undefined;
  const body: BodyFields = input === undefined ? new Map() : await readObject(io, input);
  for (const text of field) {
    const [name, value] = splitPair('--field', text);
    body.set(name, JSON.stringify(value));
  }
  for (const text of jsonField) {
    const [name, value] = splitPair('--json-field', text);
    body.set(name, checkJson(`--json-field ${name}`, value));
  }
  for (const option of shown) place(body, option.field.path, fieldJson(option));
  return objectText(body);
}

export function attachmentOf(io: Io, path: string): FileUpload {
  try {
    return { file: io.readFile(path), name: path.split(/[\\/]/).at(-1) ?? 'file' };
  } catch (cause) {
    throw new UsageError(`--file: ${path} cannot be read`, {
      hint: 'check the path and the permissions',
      cause,
    });
  }
}
