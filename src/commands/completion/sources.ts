import { api } from '../../contract/index.ts';
import { actionsFor, settableVerdicts } from '../../gate/policy.ts';
import { faultNames, targetsOf } from '../../mock/faults/parse.ts';
import { fileIds, isFileId, rowOf, secretIds, sentence } from '../../options/table.ts';
import { readProfiles } from '../../settings/profiles.ts';
import { readStored } from '../config/sources.ts';
import { methods } from '../endpoints/api-call.ts';
import type { CompletionLine, SourceName, Suggestion, SuggestionSource, Suggestions } from './completes.ts';
import { environmentKeys, gateNames, idsFor } from './service.ts';

type Named = Exclude<SuggestionSource, Suggestions>;
type Lookup<Name extends SourceName> = (
  line: CompletionLine,
  source: Extract<Named, { from: Name }>,
) => Suggestions | Promise<Suggestions>;

function profileNames({ io }: Pick<CompletionLine, 'io'>): string[] {
  const stored = readStored(io);
  return stored === null ? [] : Object.keys(readProfiles(stored.path, stored.text));
}

/** Returns every `verdict=action` that `--on` accepts. */
function overrideWords(): string[] {
  return settableVerdicts.flatMap((verdict) => actionsFor(verdict).map((action) => `${verdict}=${action}`));
}

/** Returns the names of the settings; `all` includes the names of secrets, never their values. */
function settingWords(which: 'plain' | 'all'): Suggestion[] {
  const plain = fileIds.map((id) => ({ value: id, about: sentence(rowOf(id)) }));
  const secret = secretIds.map((name) => ({
    value: name,
    about: 'A secret: shown only as set or not set.',
  }));
  return which === 'all' ? [...plain, ...secret] : plain;
}

async function settingValues(line: CompletionLine): Promise<readonly (string | Suggestion)[]> {
  const [name = ''] = line.operands;
  if (name === 'on') return overrideWords();
  if (name === 'environment') return environmentKeys(line);
  if (!isFileId(name)) return [];
  const { enum: words, type } = rowOf(name).type.jsonSchema;
  if (Array.isArray(words)) return words.map(String);
  return type === 'boolean' ? ['true', 'false'] : [];
}

/** Returns the API's paths for a method, except those with an id. */
function apiPaths({ operands: [method = ''] }: Pick<CompletionLine, 'operands'>): Suggestion[] {
  return Object.values(api)
    .filter((endpoint) => endpoint.method === method.toUpperCase() && !endpoint.path.includes('{'))
    .map(({ path, summary }) => ({ value: path, about: summary }));
}

/** Returns the kinds of faults, such as `html-502`, and after an `@` what they can affect: `html-502@run.status`. */
function faultWords({ typed }: Pick<CompletionLine, 'typed'>): string[] {
  const start = typed.replace(/@.*$/s, '');
  if (start === typed) return [...faultNames];
  return targetsOf(start.replace(/=.*$/s, '')).map((target) => `${start}@${target}`);
}

const lookups: { readonly [Name in SourceName]: Lookup<Name> } = {
  'api-methods': () => methods,
  'api-paths': apiPaths,
  'environment-keys': environmentKeys,
  faults: faultWords,
  gates: gateNames,
  ids: (line, { path, index }) => idsFor(path, index, line),
  overrides: overrideWords,
  'plain-settings': () => settingWords('plain'),
  profiles: profileNames,
  'setting-values': settingValues,
  settings: () => settingWords('all'),
};

/** Returns the candidates at the cursor. @throws any error of looking up a list */
export async function candidatesOf(source: SuggestionSource, line: CompletionLine): Promise<Suggestions> {
  if (!('from' in source)) return source;
  return (lookups[source.from] as Lookup<SourceName>)(line, source as never);
}
