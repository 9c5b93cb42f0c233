import { dirname, resolve } from 'node:path';
import { ConfigError } from '../errors.ts';
import { readFields } from './fields.ts';
import { checkGates, type FileGate, mergeGates, readGates } from './gates.ts';
import { type JsonFile, type JsonPath, readJson } from './json-file.ts';
import { overlay } from './merge.ts';
import { type SettingSource, type SomeSettings, sourceAt } from './names.ts';

/** The settings of one part of a project file, and its gates by name. */
interface Section {
  readonly values: SomeSettings;
  readonly gates: ReadonlyMap<string, FileGate>;
}

/** The content of `.rungate.json`: the settings for every ref, and those for refs that match a pattern. */
interface ProjectFile extends Section {
  readonly path: string;
  readonly branches: ReadonlyMap<string, Section>;
}

/** Makes a relative path absolute: it starts at the file's folder, not at the working directory. */
function withAbsolutePaths(path: string, values: SomeSettings): SomeSettings {
  return values.caFile === undefined ? values : { ...values, caFile: resolve(dirname(path), values.caFile) };
}

/** Checks every branch, so that a mistake shows at once, not on a later build. @throws ConfigError with file, line and column */
export function readProjectFile(path: string, bytes: Uint8Array): ProjectFile {
  const file = readJson(path, bytes);
  const common = readSection(file, file.value, [], ['$schema', 'branches']);
  const { $schema, branches = {} } = file.value as { $schema?: unknown; branches?: unknown };
  if ($schema !== undefined && typeof $schema !== 'string') {
    throw new ConfigError(`${file.place(['$schema'])}: $schema: expected a string`);
  }
  if (typeof branches !== 'object' || branches === null || Array.isArray(branches)) {
    const expected = 'expected an object such as { "main": { "strict": true } }';
    throw new ConfigError(`${file.place(['branches'])}: branches: ${expected}`);
  }
  const read = Object.entries(branches).map(([pattern, json]) => {
    const at = ['branches', pattern];
    if (pattern.trim() === '') {
      throw new ConfigError(
        `${file.place(at, 'key')}: expected the name of a branch or a tag, or a pattern with *`,
      );
    }
    return [pattern, readSection(file, json, at)] as const;
  });
  for (const gates of [common.gates, ...read.map(([, section]) => mergeGates(common.gates, section.gates))])
    checkGates(file, gates);
  return { path, ...common, branches: new Map(read) };
}

function readSection(file: JsonFile, json: unknown, at: JsonPath, others: readonly string[] = []): Section {
  const values = withAbsolutePaths(file.path, readFields(file, json, at, [...others, 'gates']));
  return { values, gates: readGates(file, (json as { gates?: unknown }).gates, [...at, 'gates']) };
}

function sectionFor({ branches }: ProjectFile, ref: string | null) {
  const pattern = matchBranch([...branches.keys()], ref);
  const section = pattern === null ? undefined : branches.get(pattern);
  return section && { pattern, section };
}

/** Returns the settings for a ref: those of the one pattern that applies to it, over those for every ref. */
export function projectSource(file: ProjectFile, ref: string | null): SettingSource {
  const all = sourceAt('project file', file.values, file.path);
  const branch = sectionFor(file, ref);
  if (branch === undefined) return all;
  return overlay(
    all,
    sourceAt('project file', branch.section.values, `${file.path}, branches ${branch.pattern}`),
  );
}

/** Returns the gates for a ref: their fields in the one pattern that applies to it, over those for every ref. */
export function projectGates(file: ProjectFile, ref: string | null): FileGate[] {
  const branchGates = sectionFor(file, ref)?.section.gates ?? new Map();
  return [...mergeGates(file.gates, branchGates).values()];
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
