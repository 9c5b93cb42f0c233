import { dirname, join, relative, resolve } from 'node:path';
import { ConfigError, UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import { readJson } from '../../settings/json-file.ts';
import { maxFileBytes, projectFileName } from '../../settings/locate.ts';
import { readProjectFile } from '../../settings/project-file.ts';

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
  /** The project file in a parent folder that the new one hides here, if it has branches: they are not copied. */
  readonly shadowed: string | null;
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
 * @param found the current project file; null if none exists
 * @param named whether the user named it
 */
export function chooseTarget(
  io: Io,
  root: string,
  found: string | null,
  { named, given }: { named: boolean; given: boolean },
): Target {
  const folder = packageFolder(io.cwd, root, io.exists);
  const packageFile = join(folder, projectFileName);
  if (found === null || !io.exists(found))
    return { path: found ?? packageFile, exists: false, fields: {}, shadowed: null };
  if (named || !given || !relative(folder, found).startsWith('..')) {
    return { path: found, exists: true, fields: fileFields(io, found), shadowed: null };
  }
  const { $schema, branches, ...fields } = fileFields(io, found);
  if (typeof fields.caFile === 'string') {
    fields.caFile = relative(dirname(packageFile), resolve(dirname(found), fields.caFile));
  }
  return { path: packageFile, exists: false, fields, shadowed: branches === undefined ? null : found };
}

export function differing(fields: FileFields, changes: FileFields): string[] {
  const isNew = (name: string) => JSON.stringify(fields[name]) !== JSON.stringify(changes[name]);
  return Object.keys(changes).filter(isNew);
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
function replacedNames(changes: FileFields, { exists }: Target): readonly string[] {
  if (changes.gates !== undefined) return exists ? [] : ['process', 'tags'];
  if (changes.process === undefined && changes.tags === undefined) return [];
  return exists ? ['process', 'tags'] : ['process', 'tags', 'gates'];
}

export function changedFields({ exists }: Io, target: Target, changes: FileFields): FileFields {
  const replaced = replacedNames(changes, target).filter((name) => changes[name] === undefined);
  const kept = Object.entries(target.fields).filter(([name]) => !replaced.includes(name));
  const after = { ...Object.fromEntries(kept), ...changes };
  const isFilled = target.exists && Object.keys(target.fields).length > 0;
  const schema = isFilled ? null : schemaPath(exists, target.path);
  return schema === null ? after : { $schema: schema, ...after };
}

/** Checks the text as every command does. @throws UsageError if the file would be invalid */
export function projectFileText(path: string, fields: object): string {
  const text = `${JSON.stringify(fields, null, 2)}\n`;
  try {
    readProjectFile(path, new TextEncoder().encode(text));
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    // The mistake comes from an option or a prompt, since the file does not exist yet.
    throw new UsageError(error.message.replace(/^.*?:\d+:\d+: /, ''), { hint: error.hint, cause: error });
  }
  return text;
}
