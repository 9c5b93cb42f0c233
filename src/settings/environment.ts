import { ConfigError } from '../errors.ts';
import type { SettingName, SettingValues, Source } from './names.ts';

type Env = Readonly<Record<string, string | undefined>>;

/** The environment variables that stand for a setting as it is. */
const variables = {
  apiUrl: 'RUNGATE_API_URL',
  project: 'RUNGATE_PROJECT',
  environment: 'RUNGATE_ENVIRONMENT',
} as const;

/** Secrets: by value, or by the path of a file. */
const secretVariables = {
  apiKey: 'RUNGATE_API_KEY',
  token: 'RUNGATE_TOKEN',
  webhookSecrets: 'RUNGATE_WEBHOOK_SECRET',
  tenantSecret: 'RUNGATE_TENANT_SECRET',
} as const;

const strictVariable = 'RUNGATE_STRICT';

/** Every variable that gives a setting. */
export const settingVariables: readonly string[] = [
  ...Object.values(variables),
  ...Object.values(secretVariables).flatMap((name) => [name, `${name}_FILE`]),
  strictVariable,
];

/** An empty variable is an unset one. */
function given(env: Env, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value.trim() === '' ? undefined : value;
}

function flagVariable(env: Env, name: string): boolean | undefined {
  const value = given(env, name)?.trim().toLowerCase();
  if (value === undefined) return undefined;
  if (['1', 'true', 'yes', 'on'].includes(value)) return true;
  if (['0', 'false', 'no', 'off'].includes(value)) return false;
  throw new ConfigError(`${name} is "${value}", which is neither true nor false`, {
    hint: `set ${name} to true or false, or unset it`,
  });
}

/** Whether a text is surely a path, which a message may show: it could be the secret itself, put into the wrong variable. */
function isPath(text: string): boolean {
  return /^(?:\.{0,2}|~|[A-Za-z]:)[\\/]/.test(text) || /^[\w.-]{1,32}$/.test(text);
}

/** A secret from `NAME` or from the file that `NAME_FILE` names, which loses one trailing newline. */
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
    const what = `the file that ${name}_FILE names cannot be read`;
    throw isPath(path)
      ? new ConfigError(`${what}: ${path}`, { hint: 'check the path and the permissions', cause })
      : new ConfigError(what, {
          hint: `${name}_FILE takes the path of a file; if the secret itself is there, it belongs in ${name}`,
        });
  }
  if (/^(?:255,254|254,255)$/.test(bytes.subarray(0, 2).join(','))) {
    throw new ConfigError(`the file that ${name}_FILE names is UTF-16 text: ${path}`, {
      hint: 'save it as UTF-8; in Windows PowerShell: Set-Content -Encoding ascii, not >',
    });
  }
  const text = new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
  if (text === '') {
    throw new ConfigError(`the file that ${name}_FILE names is empty: ${path}`, {
      hint: 'write the secret into it, or unset the variable',
    });
  }
  return text;
}

/** Several secrets, one in a line, as they are: white space around one may be a mistake, and may be meant. */
function lines(text: string | undefined): string[] | undefined {
  const filled = text?.split(/\r?\n/).filter((line) => line.trim() !== '');
  return filled?.length === 0 ? undefined : filled;
}

/** The settings that the environment gives. */
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
    add(name as SettingName, source, name === 'webhookSecrets' ? lines(secret) : secret);
  }
  add('strict', strictVariable, flagVariable(env, strictVariable));
  return { origin: 'environment', values: values as Partial<SettingValues>, details };
}

/** Every secret that the environment holds, readable or not as a setting: for taking them out of messages. */
export function readSecrets(env: Env, readFile: (path: string) => Uint8Array): string[] {
  const found = Object.values(secretVariables).flatMap((name) => {
    try {
      return [readSecret(env, name, readFile), given(env, name)];
    } catch {
      return [given(env, name)];
    }
  });
  // Of several secrets in one variable, each is one.
  return found
    .filter((secret) => secret !== undefined)
    .flatMap((secret) => [secret, ...(lines(secret) ?? [])]);
}
