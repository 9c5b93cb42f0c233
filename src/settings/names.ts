import type { Overrides } from '../gate/policy.ts';
import type { Verdict } from '../gate/verdict.ts';

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
  /** How many gates share the service's limits. */
  fleetSize: number;
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

/** Some settings. One that is undefined is not given. */
export type SomeSettings = { readonly [Name in SettingName]?: SettingValues[Name] | undefined };

/** What is never written to a project file, never taken from the command line and never shown. */
export const secretNames = ['apiKey', 'token', 'webhookSecrets', 'tenantSecret'] as const;
export type SecretName = (typeof secretNames)[number];
/** The secrets that are sent, and so are kept for one service only. */
export const sentNames = ['apiKey', 'token'] as const;
/** What files and `config set` may give. */
export type PlainName = Exclude<SettingName, SecretName>;
export type PlainValues = Pick<SettingValues, PlainName>;

/** Some settings, as one source gives them. `detail` says where exactly: a variable's name, a file's path. */
export interface Source {
  readonly origin: Origin;
  readonly values: SomeSettings;
  readonly details?: Readonly<Partial<Record<SettingName, string>>>;
}

/** A source of which one place gives every value. */
export function sourceAt(origin: Origin, values: SomeSettings, detail: string): Source {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return { origin, values, details: Object.fromEntries(given.map(([name]) => [name, detail])) };
}

/** Where exactly a value came from. */
export interface Provenance {
  readonly origin: Origin;
  readonly detail: string | undefined;
}

export interface Setting<Value> extends Provenance {
  readonly value: Value;
}

/** `on` may come from several sources: `parts` has the provenance of each verdict, the setting itself the strongest. */
export interface MergedOverrides extends Setting<Overrides> {
  readonly parts: Readonly<Partial<Record<Verdict, Provenance>>>;
}

export type Settings = { readonly [Name in Exclude<SettingName, 'on'>]?: Setting<SettingValues[Name]> } & {
  readonly on?: MergedOverrides;
};
