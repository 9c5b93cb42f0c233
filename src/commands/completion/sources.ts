import type { Candidates, Line, Source, SourceName } from './completes.ts';

type Named = Exclude<Source, Candidates>;
type Lookup<Name extends SourceName> = (
  line: Line,
  source: Extract<Named, { from: Name }>,
) => Candidates | Promise<Candidates>;

const values = () => import('./values.ts');
const service = () => import('./service.ts');

/** Every list by its name. Each loads what it needs when a shell asks. */
const lookups: { readonly [Name in SourceName]: Lookup<Name> } = {
  'api-methods': async () => (await import('../endpoints/api-call.ts')).methods,
  'api-paths': async (line) => (await values()).apiPaths(line),
  'environment-keys': async (line) => (await service()).environmentKeys(line),
  faults: async (line) => (await values()).faultWords(line),
  ids: async (line, { path, index }) => (await service()).idsFor(path, index, line),
  overrides: async () => (await values()).overrideWords(),
  'plain-settings': async () => (await values()).settingWords('plain'),
  profiles: async (line) => (await values()).profileNames(line),
  'setting-values': async (line) => (await values()).settingValues(line),
  settings: async () => (await values()).settingWords('all'),
};

/** Returns what may stand at the cursor. @throws whatever keeps a list from being read */
export async function candidatesOf(source: Source, line: Line): Promise<Candidates> {
  if (!('from' in source)) return source;
  return (lookups[source.from] as Lookup<SourceName>)(line, source as never);
}
