import { ConfigError, UsageError } from './errors.ts';
import type { Overrides } from './gate/policy.ts';

/** Where a setting's value came from, the strongest first. */
export const origins = ['flag', 'environment', 'project file', 'profile', 'default'] as const;
export type Origin = (typeof origins)[number];

/** The settings by the names that files and `config` use. Durations in milliseconds. */
export interface SettingValues {
  apiUrl: string;
  project: string;
  process: string;
  tags: readonly string[];
  environment: string;
  strict: boolean;
  on: Overrides;
  interval: number;
  maxAttempts: number;
  timeout: number;
  format: 'table' | 'json' | 'ndjson';
  auth: 'bearer' | 'key';
  caFile: string;
  'run.idPointer': string;
  'env.providerModelField': string;
  'webhook.timestampHeader': string;
  'webhook.signatureHeader': string;
  apiKey: string;
  token: string;
  /** Several during rotation; each is tried. */
  webhookSecrets: readonly string[];
  tenantSecret: string;
}

export type SettingName = keyof SettingValues;

/** Some settings, as one source gives them. `detail` says where exactly: a variable's name, a file's path. */
export interface Source {
  readonly origin: Origin;
  readonly values: Readonly<Partial<SettingValues>>;
  readonly details?: Readonly<Partial<Record<SettingName, string>>>;
}

export interface Setting<Value> {
  readonly value: Value;
  readonly origin: Origin;
  readonly detail: string | undefined;
}

export type Settings = { readonly [Name in SettingName]?: Setting<SettingValues[Name]> };

/** What to run is one setting with two spellings: a higher source that gives either replaces both. */
const selectors = ['process', 'tags'] as const;

export const defaultSettings: Source = {
  origin: 'default',
  values: { interval: 10_000, maxAttempts: 60, timeout: 60 * 60_000 },
};

function refuseBoth(source: Source): void {
  if (source.values.process === undefined || source.values.tags === undefined) return;
  const message = 'a process and tags exclude each other: give exactly one of them';
  const parts = { hint: 'write --process <slug>, or --tag <tag> once or more' };
  throw source.origin === 'flag' ? new UsageError(message, parts) : new ConfigError(message, parts);
}

/** Merges sources given in any order; each value keeps its origin. `on` is merged verdict by verdict. */
export function mergeSettings(sources: readonly Source[]): Settings {
  const strongestFirst = sources.toSorted((a, b) => origins.indexOf(a.origin) - origins.indexOf(b.origin));
  const merged: Partial<Record<SettingName, Setting<unknown>>> = {};
  for (const source of strongestFirst) {
    refuseBoth(source);
    const selected = selectors.some((name) => merged[name] !== undefined);
    for (const name of Object.keys(source.values) as SettingName[]) {
      const value = source.values[name];
      if (value === undefined) continue;
      const detail = source.details?.[name];
      if (name === 'on') {
        const stronger = merged.on ?? { value: {}, origin: source.origin, detail };
        merged.on = { ...stronger, value: { ...(value as Overrides), ...(stronger.value as Overrides) } };
      } else if (
        merged[name] === undefined &&
        !(selected && (selectors as readonly string[]).includes(name))
      ) {
        merged[name] = { value, origin: source.origin, detail };
      }
    }
  }
  return merged as Settings;
}

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
  let text: string;
  try {
    text = new TextDecoder().decode(readFile(path)).replace(/\r?\n$/, '');
  } catch (cause) {
    throw new ConfigError(`the file that ${name}_FILE names cannot be read: ${path}`, {
      hint: 'check the path and the permissions',
      cause,
    });
  }
  if (text === '') throw new ConfigError(`the file that ${name}_FILE names is empty: ${path}`);
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
    add(name as SettingName, variable, name === 'webhookSecrets' ? lines(secret) : secret);
  }
  add('strict', 'RUNGATE_STRICT', flagVariable(env, 'RUNGATE_STRICT'));
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
