import type { FileUpload } from '../../contract/service-types.ts';
import type { Field } from '../../contract/shape.ts';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';

/** `promoteToTicket` → `promote-to-ticket`. */
export function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `device-name` → `deviceName`: how commander names the value of `--device-name`. */
export function flagKey(field: Field): string {
  return field.path.at(-1) ?? '';
}

/** The flag of a field: the name of its leaf. */
export function flagName(field: Field): string {
  return `--${kebab(flagKey(field))}`;
}

/** The options for what the contract does not show. */
export interface OpenFlags {
  field?: string[];
  jsonField?: string[];
  input?: string;
}

type Fields = Record<string, unknown>;

/** `name=value` taken apart at the first `=`. */
export function splitPair(option: string, text: string): [string, string] {
  const at = text.indexOf('=');
  if (at > 0) return [text.slice(0, at), text.slice(at + 1)];
  throw new UsageError(`${option}: "${text}" is not name=value`, { hint: `write ${option} name=value` });
}

function parseJson(source: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError(`${source} is not JSON`, {
      hint: 'text needs quotes in JSON; --field takes it as it is',
    });
  }
}

/** The text of a file, or of standard input for `-`. */
async function readText(io: Io, path: string): Promise<string> {
  try {
    return new TextDecoder().decode(path === '-' ? await io.readStdin() : io.readFile(path));
  } catch (cause) {
    throw new UsageError(`--input: ${path} cannot be read`, {
      hint: 'name a file, or - for standard input',
      cause,
    });
  }
}

async function readObject(io: Io, path: string): Promise<Fields> {
  const value = parseJson('--input', await readText(io, path));
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new UsageError('--input is JSON, but not an object', {
    hint: 'a body is an object: {"name": "value"}',
  });
}

/** Puts a value where its path says, making the objects on the way. */
function place(body: Fields, path: readonly string[], value: unknown): void {
  const [name = '', ...rest] = path;
  if (rest.length === 0) {
    body[name] = value;
    return;
  }
  const inner = body[name];
  const object: Fields = typeof inner === 'object' && inner !== null ? { ...inner } : {};
  place(object, rest, value);
  body[name] = object;
}

/** A flag's text as the field's type. */
export function fieldValue(option: string, { type }: Field, given: unknown): unknown {
  if (typeof given !== 'string') return given;
  if (type === 'string' || type === 'strings') return given;
  if (type === 'json') return parseJson(option, given);
  const number = given.trim() === '' ? Number.NaN : Number(given);
  if (Number.isFinite(number) && (type === 'number' || Number.isSafeInteger(number))) return number;
  throw new UsageError(`${option}: "${given}" is not ${type === 'integer' ? 'a whole number' : 'a number'}`);
}

/**
 * The body that `--input`, `--field`, `--json-field` and the flags of the shown fields make; a later one of these
 * beats an earlier. Undefined when nothing was given.
 */
export async function bodyOf(
  io: Io,
  flags: OpenFlags,
  shown: readonly { path: readonly string[]; value: unknown }[],
): Promise<Fields | undefined> {
  const { field = [], jsonField = [], input } = flags;
  if (input === undefined && field.length + jsonField.length + shown.length === 0) return undefined;
  const body = input === undefined ? {} : await readObject(io, input);
  for (const text of field) {
    const [name, value] = splitPair('--field', text);
    body[name] = value;
  }
  for (const text of jsonField) {
    const [name, value] = splitPair('--json-field', text);
    body[name] = parseJson(`--json-field ${name}`, value);
  }
  for (const { path, value } of shown) place(body, path, value);
  return body;
}

/** A file to attach, under its name. */
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
