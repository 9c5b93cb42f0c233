import { ConfigError } from '../errors.ts';
import { nearest } from '../suggest.ts';
import type { JsonFile, Path } from './json-file.ts';
import type { PlainName, SettingValues } from './names.ts';
import { isPlainName, plainNames, readValue } from './table.ts';
import { UnfitValue } from './value-types.ts';

/** Names that people give to secrets, wherever they stand. */
const secretName = /api[-_.]?key|token|secret|passw|credential|bearer|authorization|private[-_.]?key/i;

export function isSecretName(name: string): boolean {
  return !isPlainName(name) && secretName.test(name);
}

/** What a name begins with when its settings stand in an object of their own: `webhook`, `run`, `env`. */
const groups = new Set(
  plainNames.filter((name) => name.includes('.')).map((name) => name.slice(0, name.indexOf('.'))),
);

/** A key as it is shown: short, whatever somebody has pasted there. */
function shown(key: string): string {
  return JSON.stringify(key.length > 60 ? `${key.slice(0, 59)}…` : key);
}

function unknownName(place: string, name: string, others: readonly string[]): ConfigError {
  const near = nearest(name, [...plainNames, ...others]);
  const hint = /^wait$/i.test(name)
    ? 'waiting is not a setting: run rungate run trigger --wait'
    : near === null
      ? `the settings are ${plainNames.join(', ')}`
      : `did you mean ${JSON.stringify(near)}?`;
  return new ConfigError(`${place}: there is no setting ${shown(name)}`, { hint });
}

function misplacedSecret(place: string, name: string): ConfigError {
  return new ConfigError(`${place}: ${shown(name)} looks like a secret, and this file is no place for one`, {
    hint: 'set RUNGATE_API_KEY or RUNGATE_TOKEN in the environment (or the same with _FILE), or keep it with rungate login; a secret that was committed is known: have the service issue another',
  });
}

type Values = Partial<Record<PlainName, unknown>>;

/**
 * The settings of one object in a file, each with its value checked.
 * @param others keys that the caller reads himself
 * @throws ConfigError that says where
 */
export function readFields(
  file: JsonFile,
  json: unknown,
  at: Path,
  others: readonly string[] = [],
): Partial<SettingValues> {
  const values: Values = {};
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw new ConfigError(`${file.place(at)}: expected an object of settings`);
  }
  const take = (name: string, value: unknown, where: Path) => {
    if (!isPlainName(name)) {
      const place = file.place(where, 'key');
      throw isSecretName(name) ? misplacedSecret(place, name) : unknownName(place, name, others);
    }
    if (values[name] !== undefined) {
      throw new ConfigError(`${file.place(where, 'key')}: ${name} is there twice`);
    }
    values[name] = checked(file, name, value, where);
  };
  for (const [key, value] of Object.entries(json)) {
    if (others.includes(key)) continue;
    if (groups.has(key) && typeof value === 'object' && value !== null && !Array.isArray(value)) {
      for (const [part, inner] of Object.entries(value)) take(`${key}.${part}`, inner, [...at, key, part]);
    } else {
      take(key, value, [...at, key]);
    }
  }
  if (values.process !== undefined && values.tags !== undefined) {
    throw new ConfigError(
      `${file.place([...at, 'tags'], 'key')}: a process and tags exclude each other: give exactly one of them`,
      { hint: 'keep "process" or "tags"' },
    );
  }
  return values as Partial<SettingValues>;
}

function checked(file: JsonFile, name: PlainName, value: unknown, where: Path): unknown {
  try {
    return readValue(name, value);
  } catch (error) {
    if (!(error instanceof UnfitValue)) throw error;
    throw new ConfigError(`${file.place([...where, ...error.within])}: ${name}: ${error.message}`, {
      hint: error.hint,
    });
  }
}
