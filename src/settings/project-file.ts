import { dirname, resolve } from 'node:path';
import { ConfigError } from '../errors.ts';
import { remainingOverrides } from '../gate/policy.ts';
import { readFields } from './fields.ts';
import { readJson } from './json-file.ts';
import { type SomeSettings, type Source, sourceAt } from './names.ts';

/** What `.rungate.json` says: for every ref, and for those that a pattern names. */
export interface ProjectFile {
  readonly path: string;
  readonly values: SomeSettings;
  readonly branches: ReadonlyMap<string, SomeSettings>;
}

/** A path in the file starts where the file is, wherever the command is run. */
function placed(path: string, values: SomeSettings): SomeSettings {
  return values.caFile === undefined ? values : { ...values, caFile: resolve(dirname(path), values.caFile) };
}

/**
 * Reads `.rungate.json`, every branch of it, whichever is meant: a mistake shows on the day it is made.
 * @throws ConfigError that says where
 */
export function readProjectFile(path: string, bytes: Uint8Array): ProjectFile {
  const file = readJson(path, bytes);
  const values = placed(path, readFields(file, file.value, [], ['$schema', 'branches']));
  const { $schema, branches = {} } = file.value as { $schema?: unknown; branches?: unknown };
  if ($schema !== undefined && typeof $schema !== 'string') {
    throw new ConfigError(`${file.place(['$schema'])}: $schema: expected a text`);
  }
  if (typeof branches !== 'object' || branches === null || Array.isArray(branches)) {
    const expected = 'expected an object such as { "main": { "strict": true } }';
    throw new ConfigError(`${file.place(['branches'])}: branches: ${expected}`);
  }
  const read = Object.entries(branches).map(([pattern, json]) => {
    const at = ['branches', pattern];
    if (pattern.trim() === '') {
      throw new ConfigError(`${file.place(at, 'key')}: expected a branch, a tag, or a pattern with *`);
    }
    return [pattern, placed(path, readFields(file, json, at))] as const;
  });
  return { path, values, branches: new Map(read) };
}

/** What the file says for a ref: the one pattern that is meant for it, over what holds for all. */
export function projectSource({ path, values, branches }: ProjectFile, ref: string | null): Source {
  const all = sourceAt('project file', values, path);
  const pattern = matchBranch([...branches.keys()], ref);
  const own = pattern === null ? undefined : branches.get(pattern);
  if (own === undefined) return all;
  const selects = own.process !== undefined || own.tags !== undefined;
  return {
    ...all,
    values: {
      ...values,
      ...(selects ? { process: undefined, tags: undefined } : {}),
      ...own,
      ...(values.on === undefined ? {} : { on: { ...remainingOverrides(values.on, own), ...own.on } }),
    },
    details: { ...all.details, ...sourceAt('project file', own, `${path}, branches ${pattern}`).details },
  };
}

/** A branch or a tag by its name alone: `refs/heads/main` is `main`. */
export function shortRef(ref: string): string {
  return ref.replace(/^refs\/(heads|tags)\//, '');
}

/** `*` stands for any characters, slashes too; everything else for itself. */
function matches(pattern: string, ref: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return ref === pattern;
  if (!ref.startsWith(first) || !ref.endsWith(last) || ref.length < first.length + last.length) return false;
  const end = ref.length - last.length;
  let from = first.length;
  // The leftmost place for each part leaves the most for those behind it: no backtracking is needed.
  for (const part of rest) {
    const found = ref.indexOf(part, from);
    if (found < 0 || found + part.length > end) return false;
    from = found + part.length;
  }
  return true;
}

/**
 * The pattern that is meant for a ref: the ref itself before any with a `*`, then the one with the most characters that
 * are no `*`, then the first. `*` alone is everything else, an unknown ref too.
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
