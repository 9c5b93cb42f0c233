import { ConfigError } from '../errors.ts';
import { InvalidValue, readValue } from '../options/read.ts';
import { type FileId, fileIds, type GateId, gateIds, isFileId } from '../options/table.ts';
import { nearest } from '../suggest.ts';
import { isObject, type JsonFile, type JsonPath } from './json-file.ts';
import type { SettingValues } from './names.ts';

/** Matches key names that people use for secrets. */
const secretName =
  /api[-_.]?key|token|secret|passw|credential|bearer|authorization|(?:private|receipt)[-_.]?key/i;

export function isSecretName(name: string): boolean {
  return !isFileId(name) && secretName.test(name);
}

/** Settings with a URL whose query may contain a secret. */
const pageNames: readonly string[] = [
  'deployed.url',
  'preview.baseUrl',
  'preview.readyUrl',
] satisfies FileId[];

/** Returns the value of a setting as it may be shown: the URL of a page without its query. */
export function shownValue(name: string, value: unknown): unknown {
  if (!pageNames.includes(name) || typeof value !== 'string') return value;
  const query = value.indexOf('?');
  return query === -1 ? value : `${value.slice(0, query)}?…`;
}

/** The settings groups that may be written as nested objects: `webhook`, `run`, `env`. */
const groups = new Set(
  fileIds.filter((name) => name.includes('.')).map((name) => name.slice(0, name.indexOf('.'))),
);

/** Quotes a key for a message, shortened in case someone pasted a long text. */
function quotedKey(key: string): string {
  return JSON.stringify(key.length > 60 ? `${key.slice(0, 59)}…` : key);
}

function unknownName(place: string, name: string, known: readonly string[]): ConfigError {
  const near = nearest(name, known);
  const hint =
    near === null ? `the settings are ${known.join(', ')}` : `did you mean ${JSON.stringify(near)}?`;
  return new ConfigError(`${place}: unknown setting ${quotedKey(name)}`, { hint });
}

function misplacedSecret(place: string, name: string): ConfigError {
  return new ConfigError(
    `${place}: ${quotedKey(name)} looks like a secret, and this file must not contain secrets`,
    {
      hint: 'set an environment variable instead, such as RUNGATE_API_KEY, RUNGATE_TOKEN or RUNGATE_TOKEN_FILE, or save the secret with rungate login; if it was ever committed, replace it with a new one',
    },
  );
}

type Values = Partial<Record<FileId | GateId, unknown>>;
const isGateId = (name: string): name is GateId => (gateIds as readonly string[]).includes(name);

/**
 * @param others keys that the caller reads itself
 * @param allowed the settings that the object may have
 * @throws ConfigError with file, line and column
 */
export function readFields(
  file: JsonFile,
  json: unknown,
  at: JsonPath,
  others: readonly string[] = [],
  allowed: readonly (FileId | GateId)[] = fileIds,
): Partial<SettingValues> {
  const values: Values = {};
  if (!isObject(json)) {
    throw new ConfigError(`${file.place(at)}: expected an object of settings`, {
      hint: 'write an object such as { "process": "smoke-tests" }',
    });
  }
  const add = (name: string, value: unknown, where: JsonPath) => {
    // Only for an error: each takes time in proportion to the file.
    const place = () => file.place(where, 'key');
    const isKnown = isFileId(name) || isGateId(name);
    if (!isKnown && isSecretName(name)) throw misplacedSecret(place(), name);
    if (!isKnown) throw unknownName(place(), name, [...allowed, ...others]);
    if (!allowed.includes(name)) {
      const right = isFileId(name) ? 'at the top level of the file' : 'into a gate, below "gates"';
      throw new ConfigError(`${place()}: ${name} is in the wrong place`, { hint: `write it ${right}` });
    }
    if (values[name] !== undefined) {
      throw new ConfigError(`${place()}: ${name} is set twice`);
    }
    try {
      values[name] = readValue(name, value);
    } catch (error) {
      if (!(error instanceof InvalidValue)) throw error;
      throw new ConfigError(`${file.place([...where, ...error.within])}: ${name}: ${error.message}`, {
        hint: error.hint,
      });
    }
  };
  for (const [key, value] of Object.entries(json)) {
    if (others.includes(key)) continue;
    if (groups.has(key) && isObject(value)) {
      for (const [part, inner] of Object.entries(value)) add(`${key}.${part}`, inner, [...at, key, part]);
    } else {
      add(key, value, [...at, key]);
    }
  }
  if (values.process !== undefined && values.tags !== undefined) {
    throw new ConfigError(`${file.place([...at, 'tags'], 'key')}: "process" and "tags" cannot be combined`, {
      hint: 'remove one of them',
    });
  }
  return values as Partial<SettingValues>;
}
