import type { Overrides, Verdict } from '../gate/policy.ts';
import type { FileId, GateId, OptionValues, SecretId } from '../options/table.ts';

/** The sources of settings, strongest first. */
export const origins = ['flag', 'environment', 'project file', 'profile', 'default'] as const;
export type SettingOrigin = (typeof origins)[number];

/** The values of the settings: every option that is set outside of a single call. Durations are in milliseconds. */
export type SettingValues = Pick<OptionValues, FileId | GateId | SecretId>;
export type SettingName = keyof SettingValues;

/** Some of the settings; undefined means not set. */
export type SomeSettings = { readonly [Name in SettingName]?: SettingValues[Name] | undefined };

/** The settings from one source. `details` gives the exact place of each: the name of a variable or the path of a file. */
export interface SettingSource {
  readonly origin: SettingOrigin;
  readonly values: SomeSettings;
  readonly details?: Readonly<Partial<Record<SettingName, string>>>;
}

export function sourceAt(origin: SettingOrigin, values: SomeSettings, detail: string): SettingSource {
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  return {
    origin,
    values: Object.fromEntries(present),
    details: Object.fromEntries(present.map(([name]) => [name, detail])),
  };
}

/** The exact place that a value came from. */
export interface Provenance {
  readonly origin: SettingOrigin;
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
