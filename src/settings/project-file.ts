import { dirname, resolve } from 'node:path';
import { ConfigError } from '../errors.ts';
import { unspoken } from '../gate/policy.ts';
import { matchBranch } from './branch.ts';
import { readFields } from './fields.ts';
import { readJson } from './json-file.ts';
import type { SettingName, SettingValues, Source } from './names.ts';

type Values = Partial<SettingValues>;

/** What `.rungate.json` says: for every ref, and for those that a pattern names. */
export interface ProjectFile {
  readonly path: string;
  readonly values: Values;
  readonly branches: ReadonlyMap<string, Values>;
}

/** A path in the file starts where the file is, wherever the command is run. */
function placed(path: string, values: Values): Values {
  return values.caFile === undefined ? values : { ...values, caFile: resolve(dirname(path), values.caFile) };
}

/**
 * Reads `.rungate.json`, every branch of it, whichever is meant: a mistake shows on the day it is made.
 * @throws ConfigError that says where
 */
export function readProjectFile(path: string, bytes: Uint8Array): ProjectFile {
  const file = readJson(path, bytes);
  const values = placed(path, readFields(file, file.value, [], { others: ['$schema', 'branches'] }));
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
  const pattern = matchBranch([...branches.keys()], ref);
  const own: Values = (pattern === null ? undefined : branches.get(pattern)) ?? {};
  const details: Partial<Record<SettingName, string>> = {};
  for (const name of Object.keys(values) as SettingName[]) details[name] = path;
  for (const name of Object.keys(own) as SettingName[]) details[name] = `${path}, branches ${pattern}`;
  const { process, tags, ...rest } = values;
  const selects = own.process !== undefined || own.tags !== undefined;
  return {
    origin: 'project file',
    values: {
      ...rest,
      ...(process === undefined || selects ? {} : { process }),
      ...(tags === undefined || selects ? {} : { tags }),
      ...own,
      ...(values.on === undefined && own.on === undefined
        ? {}
        : { on: { ...unspoken(values.on ?? {}, own), ...own.on } }),
    },
    details,
  };
}
