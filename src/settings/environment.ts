import { ConfigError } from '../errors.ts';
import type { SettingName, SettingValues, Source } from './names.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The environment variables whose value is a setting's value. */
const variables = {
  apiUrl: 'RUNGATE_API_URL',
  project: 'RUNGATE_PROJECT',
  environment: 'RUNGATE_ENVIRONMENT',
  'hub.url': 'RUNGATE_HUB_URL',
} as const;

/** The environment variables of secrets. With `_FILE` appended, each takes the path of a file instead. */
const secretVariables = {
  apiKey: 'RUNGATE_API_KEY',
  token: 'RUNGATE_TOKEN',
  webhookSecrets: 'RUNGATE_WEBHOOK_SECRET',
  tenantSecret: 'RUNGATE_TENANT_SECRET',
  hubTokens: 'RUNGATE_HUB_TOKEN',
  receiptKey: 'RUNGATE_RECEIPT_KEY',
} as const;

const strictVariable = 'RUNGATE_STRICT';

/** Every environment variable that sets a setting. */
export const settingVariables: readonly string[] = [
  ...Object.values(variables),
  ...Object.values(secretVariables).flatMap((name) => [name, `${name}_FILE`]),
  strictVariable,
];

/** Returns the value of a variable; an empty variable counts as unset. */
function given(env: Env, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value.trim() === '' ? undefined : value;
}

function flagVariable(env: Env, name: string): boolean | undefined {
  const value = given(env, name)?.trim().toLowerCase();
  if (value === undefined) return undefined;
  if (['1', 'true', 'yes', 'on'].includes(value)) return true;
  if (['0', 'false', 'no', 'off'].includes(value)) return false;
  throw new ConfigError(`${name} must be true or false: "${value}"`, {
    hint: `set ${name} to true or false, or unset it`,
  });
}

/** Tells whether a value is clearly a path, so that a message may show it. Users put the secret itself there by mistake. */
function isPath(text: string): boolean {
  return /^(?:\.{0,2}|~|[A-Za-z]:)[\\/]/.test(text) || /^[\w.-]{1,32}$/.test(text);
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
    const what = `cannot read the file that ${name}_FILE names`;
    throw isPath(path)
      ? new ConfigError(`${what}: ${path}`, { hint: 'check the path and the permissions', cause })
      : new ConfigError(what, {
          hint: `${name}_FILE takes the path of a file; put the secret itself into ${name}`,
        });
  }
  if (/^(?:255,254|254,255)$/.test(bytes.subarray(0, 2).join(','))) {
    throw new ConfigError(`the file that ${name}_FILE names is UTF-16 text: ${path}`, {
      hint: 'save it as UTF-8; in Windows PowerShell, use Set-Content -Encoding ascii instead of >',
    });
  }
  const text = new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
  if (text === '') {
    throw new ConfigError(`the file that ${name}_FILE names is empty: ${path}`, {
      hint: `write the secret into it, or unset ${name}_FILE`,
    });
  }
  return text;
}

/** Splits secrets, one per line. Whitespace around a secret may be intended, so it stays. */
function lines(text: string | undefined): string[] | undefined {
  const filled = text?.split(/\r?\n/).filter((line) => line.trim() !== '');
  return filled?.length === 0 ? undefined : filled;
}

/** Splits tokens, one per line, without the whitespace around them, which a header cannot have. */
const trimmedLines = (text: string | undefined) => lines(text)?.map((line) => line.trim());

/** The secrets that are lists. */
const lists: Partial<Record<SettingName, typeof lines>> = { webhookSecrets: lines, hubTokens: trimmedLines };

/** Reads the settings in the environment. */
export function environmentSettings(env: Env, readFile: (path: string) => Uint8Array): Source {
  const values: Partial<Record<SettingName, unknown>> = {};
  const details: Partial<Record<SettingName, string>> = {};
  const add = (name: SettingName, variable: string, value: unknown) => {
    if (value === undefined) return;
    values[name] = value;
    details[name] = variable;
  };
  for (const [name, variable] of Object.entries(variables)) {
    add(name as SettingName, variable, given(env, variable)?.trim());
  }
  for (const [name, variable] of Object.entries(secretVariables)) {
    const secret = readSecret(env, variable, readFile);
    const source = given(env, variable) === undefined ? `${variable}_FILE` : variable;
    const list = lists[name as SettingName];
    add(name as SettingName, source, list === undefined ? secret : list(secret));
  }
  add('strict', strictVariable, flagVariable(env, strictVariable));
  return { origin: 'environment', values: values as Partial<SettingValues>, details };
}

/** Tells whether a text begins with a line such as `-----BEGIN PRIVATE KEY-----`, which is not secret. */
const isPemBoundary = (text: string) => text.startsWith('-----');

/** Returns the secret lines of a PEM file. */
export const pemSecrets = (pem: string): string[] =>
  (trimmedLines(pem) ?? []).filter((line) => !isPemBoundary(line));

/** Returns every secret in the environment, so that messages can be redacted. Secrets that are not valid settings count too. */
export function readSecrets(env: Env, readFile: (path: string) => Uint8Array): string[] {
  const found = Object.values(secretVariables).flatMap((name) => {
    try {
      return [readSecret(env, name, readFile), given(env, name)];
    } catch {
      return [given(env, name)];
    }
  });
  // A variable with several secrets: redact each of them, too, in every form that a setting has.
  return found
    .filter((secret) => secret !== undefined)
    .flatMap((secret) => [secret, ...(lines(secret) ?? []), ...(trimmedLines(secret) ?? [])])
    .filter((secret) => !isPemBoundary(secret));
}
