import type { Overrides } from '../gate/policy.ts';
import type { Verdict } from '../gate/verdict.ts';

/** The sources of settings, strongest first. */
export const origins = ['flag', 'environment', 'project file', 'profile', 'default'] as const;
export type Origin = (typeof origins)[number];

/** The settings, by the names used in files and by `rungate config`. Durations are in milliseconds. */
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
  /** The number of runs to start after the first, each only if the last one failed. */
  retries: number;
  /** The number of gates that share the service's rate limits. */
  fleetSize: number;
  format: 'table' | 'json' | 'ndjson';
  auth: 'bearer' | 'key';
  caFile: string;
  'hub.url': string;
  'run.idPointer': string;
  'env.providerModelField': string;
  'deployed.url': string;
  'deployed.pointer': string;
  'deployed.is': string;
  'deployed.timeout': number;
  'webhook.timestampHeader': string;
  'webhook.signatureHeader': string;
  apiKey: string;
  token: string;
  /** Several during a rotation: a delivery may be signed with any of them. */
  webhookSecrets: readonly string[];
  tenantSecret: string;
  /** A hub accepts all of them; a gate sends the first. */
  hubTokens: readonly string[];
  /** PEM. */
  receiptKey: string;
}

export type SettingName = keyof SettingValues;

/** Some of the settings; undefined means not set. */
export type SomeSettings = { readonly [Name in SettingName]?: SettingValues[Name] | undefined };

/** The secrets that a profile may have. */
export const savedNames = ['apiKey', 'token', 'webhookSecrets', 'tenantSecret'] as const;
export type SavedName = (typeof savedNames)[number];
/** The secrets: never written to a project file, read from the command line or shown. */
export const secretNames = [...savedNames, 'hubTokens', 'receiptKey'] as const;
export type SecretName = (typeof secretNames)[number];
/** The secrets that rungate sends to the service. A profile ties each to one service. */
export const sentNames = ['apiKey', 'token'] as const;
/** The settings that a file or `rungate config set` may set. */
export type PlainName = Exclude<SettingName, SecretName>;
export type PlainValues = Pick<SettingValues, PlainName>;

/** The settings from one source. `details` gives the exact place of each: the name of a variable or the path of a file. */
export interface Source {
  readonly origin: Origin;
  readonly values: SomeSettings;
  readonly details?: Readonly<Partial<Record<SettingName, string>>>;
}

/** Returns a source whose values all come from one place. */
export function sourceAt(origin: Origin, values: SomeSettings, detail: string): Source {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return { origin, values, details: Object.fromEntries(given.map(([name]) => [name, detail])) };
}

/** The exact place that a value came from. */
export interface Provenance {
  readonly origin: Origin;
  readonly detail: string | undefined;
}

export interface Setting<Value> extends Provenance {
  readonly value: Value;
}

/** `on` merged from several sources: `parts` has the provenance of each verdict, the setting itself that of the strongest. */
export interface MergedOverrides extends Setting<Overrides> {
  readonly parts: Readonly<Partial<Record<Verdict, Provenance>>>;
}

export type Settings = { readonly [Name in Exclude<SettingName, 'on'>]?: Setting<SettingValues[Name]> } & {
  readonly on?: MergedOverrides;
};
