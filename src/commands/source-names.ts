import type { NameOf } from '../errors.ts';
import { nameInCommands } from '../options/spelling.ts';
import { flagName, type OptionId, rowOf } from '../options/table.ts';
import type { Provenance, Settings } from '../settings/names.ts';

const secretNames: Readonly<Record<string, string>> = {
  apiKey: 'API key',
  token: 'bearer token',
  hubTokens: 'token',
};

/** Returns the name of a setting in hints: the option, the variable or the place in a file that it comes from. */
export function sourceName(id: OptionId, { origin, detail }: Provenance): string {
  if (origin === 'flag') return flagName(rowOf(id));
  if (detail === undefined) return id;
  if (origin !== 'environment')
    return id in secretNames ? `the ${secretNames[id]} in ${detail}` : `${id} in ${detail}`;
  return detail.endsWith('_FILE') ? `the file that ${detail} names` : detail;
}

/** Names options in errors, each by its source. @param others names that come first */
export function namesFrom(settings: Settings, others: Readonly<Record<string, string>> = {}): NameOf {
  return (id, value) => {
    if (others[id] !== undefined) return others[id];
    const setting = (settings as Readonly<Record<string, Provenance | undefined>>)[id];
    const isSet = setting !== undefined && setting.origin !== 'default';
    return isSet ? sourceName(id as OptionId, setting) : nameInCommands(id, value);
  };
}
