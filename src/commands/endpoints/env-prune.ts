import type { Listed } from '../../client/environments.ts';
import { formatDuration, parseDuration } from '../../duration.ts';
import { RungateError } from '../../errors.ts';
import { exitCodeOf, exitCodes, mostSevere } from '../../exit.ts';
import { parseUrl } from '../../parse-url.ts';
import { deleteEnvironment, ownBefore } from '../../preview/environments.ts';
import { createdAt } from '../../preview/mark.ts';
import { bareUrl } from '../../transport/address.ts';
import type { Context } from '../context.ts';
import { confirm } from './call-endpoint.ts';

export interface PruneFlags {
  olderThan?: string;
  yes?: boolean;
}

export const usualAge = '1d';

/** Returns the facts about an environment that may be shown: the query of its URL may have a secret. */
function factsOf(environment: Listed) {
  const { id = null, key = '', baseUrl = '' } = environment;
  const url = parseUrl(baseUrl);
  return {
    id,
    key,
    baseUrl: url === null ? null : bareUrl(url),
    createdAt: new Date(createdAt(environment) ?? 0).toISOString(),
  };
}

const isSame = (a: Listed) => (b: Listed) => a.id === b.id && a.key === b.key && a.name === b.name;

/** `rungate env prune`: deletes the environments that gates have left. Nothing without a key and a name that only rungate gives. */
export async function pruneCommand(context: Context, flags: PruneFlags): Promise<number> {
  const { io, output } = context;
  const ageMs = parseDuration('--older-than', flags.olderThan ?? usualAge);
  const age = formatDuration(ageMs);
  const caller = await context.connect();
  const before = io.clock.now() - ageMs;
  const found = await ownBefore(before, caller);
  if (found.length > 0 && flags.yes !== true) {
    for (const environment of found) {
      const { key, baseUrl, createdAt } = factsOf(environment);
      await output.alert(output.excerpt(`${key}  ${createdAt}  ${baseUrl ?? ''}`, 500));
    }
    const many = found.length === 1 ? 'this environment' : `these ${found.length} environments`;
    if (!(await confirm(context, `delete ${many}, which rungate created more than ${age} ago`, false))) {
      await output.alert('nothing was done');
      return exitCodes.failed;
    }
  }
  // A person may take a while to answer.
  const now = flags.yes === true || found.length === 0 ? found : await ownBefore(before, caller);
  const environments = [];
  const codes: number[] = [];
  for (const environment of now.filter((one) => found.some(isSame(one)))) {
    let error: string | null = null;
    try {
      await deleteEnvironment(environment, caller, { pace: true });
    } catch (caught) {
      if (!(caught instanceof RungateError)) throw caught;
      error = caught.message;
      codes.push(exitCodeOf(caught));
    }
    environments.push({ ...factsOf(environment), deleted: error === null, error });
  }
  const rows = environments.map(({ key, createdAt, baseUrl, error }) =>
    [key, createdAt, baseUrl ?? '-', error ?? 'deleted'].map((text) => output.excerpt(text, 500)),
  );
  const table = { head: ['KEY', 'CREATED', 'BASE URL', 'STATUS'], rows };
  await output.data({ schemaVersion: 1, environments }, table);
  if (found.length === 0) await output.note(`rungate created no environment more than ${age} ago`);
  return mostSevere(codes);
}
