import { dirname, join, relative, resolve } from 'node:path';
import type { Io } from '../../host/io.ts';
import { readJson } from '../../settings/json-file.ts';
import { maxFileBytes, projectFileName } from '../../settings/locate.ts';

/** The files that mark a folder as a package. */
const manifests = [
  'package.json',
  'deno.json',
  'pyproject.toml',
  'go.mod',
  'Cargo.toml',
  'pom.xml',
  'build.gradle',
  'build.gradle.kts',
  'composer.json',
  'Gemfile',
  'mix.exs',
];

export type FileFields = Readonly<Record<string, unknown>>;

export interface Target {
  readonly path: string;
  readonly exists: boolean;
  /** Its content; for a new file, the settings that applied here until now. */
  readonly fields: FileFields;
  /** The project file in a parent folder that the new one hides here. */
  readonly shadowed: { readonly path: string; readonly branches: boolean } | null;
}

/** Returns the package that a folder belongs to, or the root of the repository. */
function packageFolder(cwd: string, root: string, exists: Io['exists']): string {
  for (let folder = cwd; folder !== root; folder = dirname(folder)) {
    if (manifests.some((name) => exists(join(folder, name)))) return folder;
  }
  return root;
}

function fileFields(io: Io, path: string): Record<string, unknown> {
  return readJson(path, io.readFile(path, maxFileBytes + 1)).value as Record<string, unknown>;
}

/**
 * Chooses the project file: the current one, or the package's own if settings are given and the current one is in a parent
 * folder.
 * @param found the current project file; null if none exists or it is turned off
 * @param named whether the user named it
 */
export function chooseTarget(
  io: Io,
  root: string,
  found: string | null,
  { named, given }: { named: boolean; given: boolean },
): Target {
  const folder = packageFolder(io.cwd, root, io.exists);
  const own = join(folder, projectFileName);
  if (found === null) return { path: own, exists: io.exists(own), fields: {}, shadowed: null };
  if (!io.exists(found)) return { path: found, exists: false, fields: {}, shadowed: null };
  if (named || !given || !relative(folder, found).startsWith('..')) {
    return { path: found, exists: true, fields: fileFields(io, found), shadowed: null };
  }
  const { $schema, branches, ...fields } = fileFields(io, found);
  if (typeof fields.caFile === 'string') {
    fields.caFile = relative(dirname(own), resolve(dirname(found), fields.caFile));
  }
  return { path: own, exists: false, fields, shadowed: { path: found, branches: branches !== undefined } };
}

export function differing(fields: FileFields, changes: FileFields): string[] {
  const names = Object.keys(changes);
  return names.filter((name) => JSON.stringify(fields[name]) !== JSON.stringify(changes[name]));
}

/** Returns the path of the installed rungate's schema, relative to the file's folder; null if rungate is not installed. */
function schemaPath(exists: Io['exists'], file: string): string | null {
  const start = dirname(file);
  for (let folder = start; ; folder = dirname(folder)) {
    const schema = join(folder, 'node_modules/rungate/docs/rungate.schema.json');
    if (exists(schema)) {
      const path = relative(start, schema).replaceAll('\\', '/');
      return path.startsWith('.') ? path : `./${path}`;
    }
    if (dirname(folder) === folder) return null;
  }
}

/** Returns the fields that the changes replace: what to run. An existing file keeps its gates, and the defaults that they may use. */
function replacedNames(changes: FileFields, target: Target): readonly string[] {
  if (changes.gates !== undefined) return target.exists ? [] : ['process', 'tags'];
  if (changes.process === undefined && changes.tags === undefined) return [];
  return ['process', 'tags', ...(target.exists ? [] : ['gates'])];
}

export function changedFields(
  { exists }: Pick<Io, 'exists'>,
  target: Target,
  changes: FileFields,
): FileFields {
  const replaced = replacedNames(changes, target).filter((name) => changes[name] === undefined);
  const kept = Object.fromEntries(Object.entries(target.fields).filter(([name]) => !replaced.includes(name)));
  if (target.exists && Object.keys(target.fields).length > 0) return { ...kept, ...changes };
  const schema = schemaPath(exists, target.path);
  return { ...(schema === null ? {} : { $schema: schema }), ...kept, ...changes };
}
