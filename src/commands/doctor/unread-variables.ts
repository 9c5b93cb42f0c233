import { variableOf } from '../../ci/reports/outputs.ts';
import type { Io } from '../../host/io.ts';
import { fileIds, optionIds, rowOf } from '../../options/table.ts';
import { sanitize } from '../../sanitize.ts';
import { nearest } from '../../suggest.ts';
import { check, type DoctorCheck } from './checks.ts';

const prefix = 'RUNGATE_';

const readNames = [
  ...optionIds.flatMap((id) => {
    const { env, secret } = rowOf(id);
    return env === undefined ? [] : secret === undefined ? [env] : [env, `${env}_FILE`];
  }),
  'RUNGATE_CONFIG_DIR',
  'RUNGATE_HUB_REDIS_URL',
  'RUNGATE_HUB_REDIS_URL_FILE',
  'RUNGATE_HUB_REDIS_PREFIX',
];

const outputs = 'result exitCode verdict failed blocked runId appUrl state idempotencyKey'.split(' ');

/** Variables that rungate, its pipelines and its reports set for others to read. */
const setNames = [
  ...outputs.map(variableOf),
  'RUNGATE_SELFTEST',
  'RUNGATE_SELFTEST_PROGRAM',
  'RUNGATE_SELFTEST_SCRIPT',
  'RUNGATE_PACKAGE',
  'RUNGATE_ARGS',
];

function remedyForVariable(name: string): string {
  const rest = name.slice(prefix.length);
  const plain = (text: string) => text.toLowerCase().replaceAll(/[._]/g, '');
  const setting = fileIds.find((id) => plain(id) === plain(rest));
  if (setting !== undefined) return `set ${setting} in .rungate.json or with rungate config set`;
  const parts = readNames.map((name) => name.slice(prefix.length));
  const near = parts.find((part) => part.endsWith(`_${rest}`)) ?? nearest(rest, parts);
  return near === null
    ? `unset ${sanitize(name)} if it is meant for rungate`
    : `did you mean ${prefix}${near}?`;
}

/** Warns of variables that start with RUNGATE_ and that nothing reads. */
export function checkVariables({ env, platform }: Pick<Io, 'env' | 'platform'>): DoctorCheck[] {
  const known = new Set([...readNames, ...setNames]);
  // Windows ignores the case of the names.
  const names = Object.keys(env).map((name) => (platform === 'win32' ? name.toUpperCase() : name));
  const unread = names.filter(
    (name) => name.startsWith(prefix) && env[name] !== undefined && !known.has(name),
  );
  if (unread.length === 0) return [];
  const some = unread.slice(0, 10);
  const detail = `rungate does not read ${sanitize(some.join(', '))}`;
  return [check('variables', 'warn', detail, some.map(remedyForVariable).join('; '))];
}
