import { dirname, resolve } from 'node:path';
import { ConfigError } from '../errors.ts';
import { readFields } from './fields.ts';
import { checkGates, type FileGate, mergeGates, readGates } from './gates.ts';
import { isObject, type JsonFile, type JsonPath, readJson } from './json-file.ts';
import { type SettingSource, sourceAt } from './names.ts';

/** The settings of one part of a project file, and its gates by name. */
export interface Section {
  /** Strongest first. */
  readonly sources: readonly SettingSource[];
  readonly gates: ReadonlyMap<string, FileGate>;
}

/** The content of `.rungate.json`: the settings for every ref, and those for refs that match a pattern. */
interface ProjectFile extends Section {
  readonly branches: ReadonlyMap<string, Section>;
}

/** Checks every branch, so that a mistake shows at once, not on a later build. @throws ConfigError with file, line and column */
export function readProjectFile(path: string, bytes: Uint8Array): ProjectFile {
  const file = readJson(path, bytes);
  const common = readSection(file, file.value, []);
  const { $schema, branches = {} } = file.value as { $schema?: unknown; branches?: unknown };
  if ($schema !== undefined && typeof $schema !== 'string') {
    throw new ConfigError(`${file.place(['$schema'])}: $schema: expected a string`);
  }
  if (!isObject(branches)) {
    const expected = 'expected an object such as { "main": { "strict": true } }';
    throw new ConfigError(`${file.place(['branches'])}: branches: ${expected}`);
  }
  const read = Object.entries(branches).map(([pattern, json]): [string, Section] => {
    const at = ['branches', pattern];
    if (pattern.trim() === '') {
      throw new ConfigError(
        `${file.place(at, 'key')}: expected the name of a branch or a tag, or a pattern with *`,
      );
    }
    return [pattern, readSection(file, json, at)];
  });
  for (const gates of [common.gates, ...read.map(([, section]) => mergeGates(common.gates, section.gates))])
    checkGates(file, gates);
  return { ...common, branches: new Map(read) };
}

function readSection(file: JsonFile, json: unknown, at: JsonPath): Section {
  const isCommon = at.length === 0;
  const where = isCommon ? file.path : `${file.path}, branches ${at[1]}`;
  const values = readFields(file, json, at, isCommon ? ['$schema', 'branches', 'gates'] : ['gates']);
  // A relative path starts at the file's folder, not at the working directory.
  const caFile = values.caFile && resolve(dirname(file.path), values.caFile);
  return {
    sources: [sourceAt('project file', { ...values, caFile }, where)],
    gates: readGates(file, (json as { gates?: unknown }).gates, [...at, 'gates'], where),
  };
}

/** Returns the settings and gates for a ref: those of the one pattern that applies to it, over those for every ref. */
export function sectionFor(file: ProjectFile, ref: string | null): Section {
  const pattern = matchBranch([...file.branches.keys()], ref);
  const section = pattern === null ? undefined : file.branches.get(pattern);
  if (section === undefined) return file;
  return { sources: [...section.sources, ...file.sources], gates: mergeGates(file.gates, section.gates) };
}

/** Returns the short name of a branch or a tag: `main` for `refs/heads/main`. */
function shortRef(ref: string): string {
  return ref.replace(/^refs\/(heads|tags)\//, '');
}

/** Tells whether a ref matches a pattern, in which `*` matches any characters, including slashes. */
function matches(pattern: string, ref: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return ref === pattern;
  if (!ref.startsWith(first) || !ref.endsWith(last) || ref.length < first.length + last.length) return false;
  const end = ref.length - last.length;
  let from = first.length;
  // The leftmost match of each part leaves the most room for the next, so no backtracking is needed.
  for (const part of rest) {
    const position = ref.indexOf(part, from);
    if (position < 0 || position + part.length > end) return false;
    from = position + part.length;
  }
  return true;
}

/**
 * Returns the pattern that applies to a ref, or null: the ref itself, or else the pattern with the most characters besides
 * `*`, or else the first of these. A lone `*` matches every other ref, even an unknown one.
 */
export function matchBranch(patterns: readonly string[], ref: string | null): string | null {
  if (ref === null) return patterns.includes('*') ? '*' : null;
  const name = shortRef(ref);
  const exact = patterns.find((pattern) => !pattern.includes('*') && shortRef(pattern) === name);
  if (exact !== undefined) return exact;
  const literal = (pattern: string) => shortRef(pattern).replaceAll('*', '').length;
  const fitting = patterns.filter((pattern) => pattern.includes('*') && matches(shortRef(pattern), name));
  return fitting.toSorted((a, b) => literal(b) - literal(a))[0] ?? null;
}
