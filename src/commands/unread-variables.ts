import { variableOf } from '../ci/reports/outputs.ts';
import type { Io } from '../host/io.ts';
import { fileIds, optionIds, rowOf } from '../options/table.ts';
import { sanitize } from '../sanitize.ts';
import { distance, nearest, plain } from '../suggest.ts';

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

const known = new Set([...readNames, ...setNames]);
const plainPrefix = plain(prefix);
const ends = readNames.map((name) => ({ name, end: plain(name.slice(prefix.length)) }));

/** Returns the variable that a name without the prefix was meant for: RUNGTE_API_KEY, rungate_token; null for any other name. */
function meant(name: string): string | null {
  const typed = plain(name);
  const near = ends.find(
    ({ end }) => typed.endsWith(end) && distance(typed.slice(0, -end.length), plainPrefix) <= 2,
  );
  return near?.name ?? null;
}

function remedyFor(name: string): string {
  const near = name.startsWith(prefix) ? null : meant(name);
  if (near !== null) return `did you mean ${near}?`;
  const rest = name.slice(prefix.length);
  const setting = fileIds.find((id) => plain(id) === plain(rest));
  if (setting !== undefined) return `set ${setting} in .rungate.json or with rungate config set`;
  const parts = readNames.map((read) => read.slice(prefix.length));
  const part = parts.find((other) => other.endsWith(`_${rest}`)) ?? nearest(rest, parts);
  return part === null
    ? `unset ${sanitize(name)}, unless another program reads it`
    : `did you mean ${prefix}${part}?`;
}

/**
 * Returns the problem and its remedy if variables begin with RUNGATE_, or nearly have the name of one that rungate reads, and nothing
 * reads them; or else null. Without it, a gate could use the server of a saved profile in silence.
 */
export function unreadVariables({
  env,
  platform,
}: Pick<Io, 'env' | 'platform'>): { problem: string; remedy: string } | null {
  // Windows ignores the case of the names.
  const names = Object.keys(env).map((name) => (platform === 'win32' ? name.toUpperCase() : name));
  const unread = names.filter(
    (name) =>
      env[name] !== undefined && !known.has(name) && (name.startsWith(prefix) || meant(name) !== null),
  );
  if (unread.length === 0) return null;
  const some = unread.slice(0, 10);
  return {
    problem: `rungate does not read ${sanitize(some.join(', '))}`,
    remedy: some.map(remedyFor).join('; '),
  };
}
