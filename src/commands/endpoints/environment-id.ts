import type { Caller } from '../../client/caller.ts';
import { type Listed, searchEnvironments } from '../../client/environments.ts';
import type { Endpoint } from '../../contract/endpoint.ts';
import { HttpError, UnexpectedResponseError, UsageError } from '../../errors.ts';
import { excerpt } from '../../sanitize.ts';
import { nearest } from '../../suggest.ts';

/** Returns whether the first parameter of the endpoint's path is an environment, which may be given by its key. */
export const namesEnvironment = ({ path }: Pick<Endpoint, 'path'>) => path.startsWith('/api/environments/{');

function ambiguous(key: string, matches: readonly Listed[]): UsageError {
  const shown = matches.map(({ id, name }) => `${id ?? 'no id'} (${name ?? 'no name'})`).join(', ');
  return new UsageError(
    `${matches.length} environments have the key ${JSON.stringify(key)}: ${excerpt(shown, 400)}`,
    { hint: 'give the id of the environment that you mean' },
  );
}

/**
 * An id has precedence over a key. If the list has neither, or cannot be read, the parameter stays, and the service decides.
 * @returns the hint if the service does not know that id; undefined if the list has it
 * @throws UsageError if several environments have the key
 */
export async function useEnvironmentId(
  caller: Caller,
  params: Record<string, string>,
): Promise<string | undefined> {
  const [name = '', given = ''] = Object.entries(params)[0] ?? [];
  // The call itself refuses it, before anything is sent.
  if (given.trim() === '') return;
  const matches: Listed[] = [];
  const keys: string[] = [];
  try {
    const isMeant = ({ id, key }: Listed) => id === given || key === given;
    for await (const environment of searchEnvironments(caller, isMeant)) {
      const { id, key } = environment;
      if (id === given) return;
      if (key !== undefined) keys.push(key);
      if (key === given) matches.push(environment);
    }
  } catch (error) {
    if (!(error instanceof HttpError || error instanceof UnexpectedResponseError)) throw error;
    // The address is probably wrong, which the call itself reports.
    if (error instanceof HttpError && error.status === 404) return;
    return `give the id: rungate cannot look up keys, because it cannot read the list: ${excerpt(error.message, 300)}`;
  }
  const [match, ...others] = matches;
  if (others.length > 0) throw ambiguous(given, matches);
  if (match === undefined) {
    const near = nearest(given, keys);
    const meant = near === null ? 'list them with rungate env list' : `did you mean ${excerpt(near, 60)}?`;
    return `no environment has that id or key: ${meant}`;
  }
  if (match.id === undefined) return 'the environment with that key has no id in the list';
  params[name] = match.id;
}
