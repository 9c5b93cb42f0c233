import { api } from '../../contract/index.ts';
import { actions, checkOverride } from '../../gate/policy.ts';
import { verdicts } from '../../gate/verdict.ts';
import { secretNames } from '../../settings/names.ts';
import { readProfiles } from '../../settings/profiles.ts';
import { isPlainName, plainNames, settingsTable } from '../../settings/table.ts';
import { readStored } from '../config/sources.ts';
import type { Candidate, Candidates, Line, Source, SourceName } from './completes.ts';

type Named = Exclude<Source, Candidates>;
type Lookup<Name extends SourceName> = (
  line: Line,
  source: Extract<Named, { from: Name }>,
) => Candidates | Promise<Candidates>;

/** Loaded on demand, since most completions need no client. */
const service = () => import('./service.ts');

/** Returns the names of the profiles. Leaves a damaged file in place, for a command to report. */
function profileNames({ io }: Pick<Line, 'io'>): string[] {
  const stored = readStored(io);
  return stored === null ? [] : Object.keys(readProfiles(stored.path, stored.text));
}

function isAllowed(verdict: string, action: string): boolean {
  try {
    checkOverride(verdict, action);
    return true;
  } catch {
    return false;
  }
}

/** Returns every `verdict=action` that `--on` accepts. */
function overrideWords(): string[] {
  return verdicts.flatMap((verdict) =>
    actions.filter((action) => isAllowed(verdict, action)).map((action) => `${verdict}=${action}`),
  );
}

/** Returns the names of the settings; `all` includes the names of secrets, never their values. */
function settingWords(which: 'plain' | 'all'): Candidate[] {
  const plain = plainNames.map((name) => ({ value: name, about: settingsTable[name].about }));
  const secret = secretNames.map((name) => ({
    value: name,
    about: 'A secret: shown only as set or not set.',
  }));
  return which === 'all' ? [...plain, ...secret] : plain;
}

/** Returns the values of a setting, if they are known. */
async function settingValues(line: Line): Promise<readonly (string | Candidate)[]> {
  const [name = ''] = line.operands;
  if (name === 'on') return overrideWords();
  if (name === 'environment') return (await service()).environmentKeys(line);
  if (!isPlainName(name)) return [];
  const { enum: words, type } = settingsTable[name].type.schema;
  if (Array.isArray(words)) return words.map(String);
  return type === 'boolean' ? ['true', 'false'] : [];
}

/** Returns the contract's paths for a method, except those with an id. */
function apiPaths({ operands: [method = ''] }: Pick<Line, 'operands'>): Candidate[] {
  return Object.values(api)
    .filter((endpoint) => endpoint.method === method.toUpperCase() && !endpoint.path.includes('{'))
    .map(({ path, summary }) => ({ value: path, about: summary }));
}

/** Returns the kinds of faults, such as `html-502`, and after an `@` what they can affect: `html-502@run.status`. */
async function faultWords({ typed }: Pick<Line, 'typed'>): Promise<string[]> {
  const { faultNames, targetsOf } = await import('../../mock/faults/parse.ts');
  const start = typed.replace(/@.*$/s, '');
  if (start === typed) return [...faultNames];
  return targetsOf(start.replace(/=.*$/s, '')).map((target) => `${start}@${target}`);
}

/** The function for each list. */
const lookups: { readonly [Name in SourceName]: Lookup<Name> } = {
  'api-methods': async () => (await import('../endpoints/api-call.ts')).methods,
  'api-paths': apiPaths,
  'environment-keys': async (line) => (await service()).environmentKeys(line),
  faults: faultWords,
  gates: async (line) => (await service()).gateNames(line),
  ids: async (line, { path, index }) => (await service()).idsFor(path, index, line),
  overrides: overrideWords,
  'plain-settings': () => settingWords('plain'),
  profiles: profileNames,
  'setting-values': settingValues,
  settings: () => settingWords('all'),
};

/** Returns the candidates at the cursor. @throws any error of looking up a list */
export async function candidatesOf(source: Source, line: Line): Promise<Candidates> {
  if (!('from' in source)) return source;
  return (lookups[source.from] as Lookup<SourceName>)(line, source as never);
}
