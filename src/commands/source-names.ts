import { commandNames, type HintNames } from '../hint-names.ts';
import type { Provenance, Settings } from '../settings/names.ts';

const flags = { apiUrl: '--api-url', caFile: '--ca-file', 'hub.url': 'hub.url' } as const;

/** Returns the name of a setting in hints: the option, the variable or the place in a file that it comes from. */
export function sourceName(name: keyof typeof flags, { origin, detail }: Provenance): string {
  if (origin === 'flag') return flags[name];
  if (origin === 'environment' && detail !== undefined) return detail;
  return detail === undefined ? name : `${name} in ${detail}`;
}

function credentialName(setting: Provenance | undefined, what: string, variable: string): string {
  if (setting?.detail === undefined) return variable;
  if (setting.detail.endsWith('_FILE')) return `the file that ${setting.detail} names`;
  return setting.origin === 'profile' ? `the ${what} in ${setting.detail}` : setting.detail;
}

/** Returns the names of the settings in hints, each by its source. */
export function namesOf({ apiUrl, apiKey, token, hubTokens, ...settings }: Settings): HintNames {
  const hubUrl = settings['hub.url'];
  return {
    ...commandNames,
    apiUrl: apiUrl === undefined ? commandNames.apiUrl : sourceName('apiUrl', apiUrl),
    apiKey: credentialName(apiKey, 'API key', commandNames.apiKey),
    token: credentialName(token, 'bearer token', commandNames.token),
    hubUrl: hubUrl === undefined ? commandNames.hubUrl : sourceName('hub.url', hubUrl),
    hubToken: credentialName(hubTokens, 'token', commandNames.hubToken),
  };
}
