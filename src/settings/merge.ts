import { ConfigError, UsageError } from '../errors.ts';
import {
  type Action,
  type Overrides,
  remainingOverrides,
  resolvePolicy,
  type Verdict,
  verdicts,
} from '../gate/policy.ts';
import { jsonOf, readValue } from '../options/read.ts';
import { optionIds, rowOf } from '../options/table.ts';
import {
  type MergedOverrides,
  origins,
  type Setting,
  type SettingName,
  type SettingSource,
  type Settings,
} from './names.ts';

/** Two ways to say which processes to run: a stronger source with either replaces both. */
const selectors = ['process', 'tags'] as const;

export const defaultSettings: SettingSource = {
  origin: 'default',
  values: Object.fromEntries(
    optionIds.flatMap((id) => {
      const { default: text } = rowOf(id);
      return text === undefined ? [] : [[id, readValue(id, jsonOf(id, text))]];
    }),
  ),
};

function refuseBoth(source: SettingSource): void {
  if (source.values.process === undefined || source.values.tags === undefined) return;
  const message = 'a process and tags cannot be combined';
  const parts = { hint: 'give --process <slug>, or --tag <tag> one or more times' };
  throw source.origin === 'flag' ? new UsageError(message, parts) : new ConfigError(message, parts);
}

/** A tenant secret replaces the webhook secrets, except those from a stronger source. */
function isOutranked(name: SettingName, source: SettingSource, merged: Settings): boolean {
  const secrets = merged.webhookSecrets;
  return name === 'tenantSecret' && secrets !== undefined && secrets.origin !== source.origin;
}

/**
 * Adds a weaker source's actions for the verdicts that no stronger source sets, with either `on` or `strict`.
 * @param strict of the stronger sources
 */
function mergeOverrides(
  source: SettingSource,
  weaker: Overrides,
  on: MergedOverrides | undefined,
  strict: boolean | undefined,
): MergedOverrides {
  const rest = remainingOverrides(weaker, { strict, on: on?.value });
  const provenance = { origin: source.origin, detail: source.details?.on };
  const parts = Object.fromEntries(Object.keys(rest).map((verdict) => [verdict, provenance]));
  return { ...provenance, ...on, value: { ...rest, ...on?.value }, parts: { ...parts, ...on?.parts } };
}

/**
 * Merges sources: the strongest origin first, and of one origin in the given order. Each value keeps its origin; `on` is merged
 * verdict by verdict.
 */
export function mergeSettings(sources: readonly SettingSource[]): Settings {
  const strongestFirst = sources.toSorted((a, b) => origins.indexOf(a.origin) - origins.indexOf(b.origin));
  const merged: Partial<Record<SettingName, Setting<unknown>>> = {};
  let strict: boolean | undefined;
  for (const source of strongestFirst) {
    refuseBoth(source);
    const { origin, values, details } = source;
    const selected = selectors.some((name) => merged[name] !== undefined);
    for (const name of Object.keys(values) as SettingName[]) {
      const value = values[name];
      if (value === undefined) continue;
      if (name === 'on') {
        merged.on = mergeOverrides(source, value as Overrides, (merged as Settings).on, strict);
      } else if (
        merged[name] === undefined &&
        !(selected && (selectors as readonly string[]).includes(name)) &&
        !isOutranked(name, source, merged as Settings)
      ) {
        merged[name] = { value, origin, detail: details?.[name] };
      }
    }
    strict ??= values.strict;
  }
  return merged as Settings;
}

export function policySettings({ strict, on }: Settings): Readonly<Record<Verdict, Setting<Action>>> {
  const policy = resolvePolicy({ strict: strict?.value, on: on?.value });
  const entries = verdicts.map((verdict): [Verdict, Setting<Action>] => {
    const bySwitch = verdict === 'cancelled' ? strict : undefined;
    const { origin, detail } = on?.parts[verdict] ?? bySwitch ?? { origin: 'default', detail: undefined };
    return [verdict, { value: policy[verdict], origin, detail }];
  });
  return Object.fromEntries(entries) as Record<Verdict, Setting<Action>>;
}
