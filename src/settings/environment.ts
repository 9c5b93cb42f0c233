import { ConfigError } from '../errors.ts';
import { InvalidValue, jsonOf, readValue } from '../options/read.ts';
import { secretParts } from '../options/secret-parts.ts';
import { type OptionId, optionIds, rowOf, rows, secretIds } from '../options/table.ts';
import type { OptionType } from '../options/types.ts';
import { echoed } from '../suggest.ts';
import type { SettingName, SettingSource, SomeSettings } from './names.ts';

type Env = Readonly<Record<string, string | undefined>>;

const variableIds = optionIds.filter((id): id is SettingName => {
  const { env, file, secret } = rowOf(id);
  return env !== undefined && (file !== undefined || secret !== undefined);
});

/** Returns the value of a variable; an empty variable counts as unset. */
function given(env: Env, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value.trim() === '' ? undefined : value;
}

/** Reads a variable that is not a secret. A URL is checked when it is used. @throws ConfigError */
function readVariable(env: Env, id: OptionId, variable: string): unknown {
  const text = given(env, variable)?.trim();
  const { type } = rowOf(id);
  if (text === undefined || type.kind === 'url') return text;
  try {
    return readValue(id, jsonOf(id, text));
  } catch (error) {
    if (!(error instanceof InvalidValue)) throw error;
    const message = `${variable}: ${echoed(text)} is not ${type.is}`;
    throw new ConfigError(message, { hint: error.hint ?? `${type.write}, or unset ${variable}` });
  }
}

/** Returns a secret from `NAME`, or from the file that `NAME_FILE` names, without one trailing newline. */
export function readSecret(
  env: Env,
  name: string,
  readFile: (path: string) => Uint8Array,
): string | undefined {
  const value = given(env, name);
  const path = given(env, `${name}_FILE`);
  if (value !== undefined && path !== undefined) {
    throw new ConfigError(`${name} and ${name}_FILE are both set`, { hint: 'unset one of them' });
  }
  if (path === undefined) return value;
  let bytes: Uint8Array;
  try {
    bytes = readFile(path);
  } catch (cause) {
    // The variable may contain the secret itself instead of a path.
    const { code = 'unknown' } = cause as NodeJS.ErrnoException;
    throw new ConfigError(`cannot read the file that ${name}_FILE names (${code})`, {
      hint: `check the path and the permissions; the secret itself belongs in ${name}`,
    });
  }
  let text: string;
  try {
    // Windows PowerShell writes UTF-16 with >, which would be another secret.
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes).replace(/\r?\n$/, '');
  } catch (cause) {
    throw new ConfigError(`the file that ${name}_FILE names is not UTF-8 text: ${path}`, {
      hint: 'save it as UTF-8; in Windows PowerShell, use Set-Content -Encoding ascii instead of >',
      cause,
    });
  }
  if (text === '') {
    throw new ConfigError(`the file that ${name}_FILE names is empty: ${path}`, {
      hint: `write the secret into it, or unset ${name}_FILE`,
    });
  }
  return text;
}

export function environmentSettings(env: Env, readFile: (path: string) => Uint8Array): SettingSource {
  const values: Partial<Record<SettingName, unknown>> = {};
  const details: Partial<Record<SettingName, string>> = {};
  for (const id of variableIds) {
    const { env: variable = '', secret, type } = rowOf(id);
    const text = secret === undefined ? undefined : readSecret(env, variable, readFile);
    const value = secret === undefined ? readVariable(env, id, variable) : text && secretOf(type, text);
    if (value === undefined) continue;
    values[id] = value;
    details[id] = given(env, variable) === undefined ? `${variable}_FILE` : variable;
  }
  return { origin: 'environment', values: values as SomeSettings, details };
}

/** Returns a secret or a list of secrets; undefined for an empty list. */
function secretOf(type: OptionType<unknown>, text: string): unknown {
  const value = type.fromText === undefined ? text : type.fromText(text);
  return Array.isArray(value) && value.length === 0 ? undefined : value;
}

/** Returns every secret in the environment, so that messages can be redacted. Secrets that are not valid settings count too. */
export function readSecrets(env: Env, readFile: (path: string) => Uint8Array): string[] {
  return secretIds.flatMap((id) => {
    const { env: variable } = rows[id];
    const texts = [given(env, variable)];
    try {
      texts.push(readSecret(env, variable, readFile));
    } catch {
      // A message about it redacts what the variable has.
    }
    return texts.filter((text) => text !== undefined).flatMap((text) => secretParts(id, text));
  });
}
