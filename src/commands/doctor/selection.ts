import type { Caller } from '../../client/caller.ts';
import { api } from '../../contract/index.ts';
import { RungateError, UsageError } from '../../errors.ts';
import { sanitize } from '../../sanitize.ts';
import type { Context } from '../context.ts';
import { useEnvironmentId } from '../endpoints/environment-id.ts';
import { check, type DoctorCheck } from './checks.ts';

/** A slug is a part of a URL. The service may have a narrower rule. */
const slug = /^[\p{L}\p{N}._~-]+$/u;

const quoted = (name: string) => (slug.test(name) ? name : JSON.stringify(sanitize(name)));

/** Finds the problem with a name; null if it exists. */
type Find = (caller: Caller, name: string) => Promise<string | null>;

/** A 404 proves nothing: the path takes an id, which need not be the slug. */
const findProject: Find = async (caller, projectId) => {
  const input = { params: { projectId }, query: { page: 1, pageSize: 1 } };
  await caller.exchange('observations.list', api['observations.list'], input, { maxRequests: 1 });
  return null;
};

const findEnvironment: Find = async (caller, key) => {
  const params = { id: key };
  const hint = await useEnvironmentId(caller, params);
  return hint ?? (params.id === key ? 'it is an id: a gate takes the key' : null);
};

/** Returns the names by what is known about them. An error of the service tells nothing: the checks of access report it. */
async function lookUp(names: readonly (readonly [string, string, Find])[], caller: Caller | null) {
  const known: string[] = [];
  const unasked: string[] = [];
  const unknown: string[] = [];
  const problems: string[] = [];
  for (const [what, name, find] of names) {
    const shown = `${what} ${quoted(name)}`;
    if (caller === null) {
      unasked.push(shown);
      continue;
    }
    try {
      const problem = await find(caller, name);
      if (problem === null) known.push(shown);
      else problems.push(`${shown}: ${problem}`);
    } catch (error) {
      if (!(error instanceof RungateError)) throw error;
      if (error instanceof UsageError) problems.push(`${shown}: ${error.message}`);
      else unknown.push(shown);
    }
  }
  return { known, unasked, unknown, problems };
}

/**
 * Checks what a gate runs, or each gate in the project file: whether it is set, looks like a slug, and exists, as far as the service
 * can tell without a run.
 * @param caller null without a service or a bearer token
 */
export async function checkSelection(
  { settings, sources }: Pick<Context, 'settings' | 'sources'>,
  caller: Caller | null,
): Promise<DoctorCheck> {
  const selections = sources.gates.length > 0 ? sources.gates.map((gate) => gate.settings) : [settings];
  const valuesOf = (id: 'project' | 'process' | 'environment' | 'tags') => [
    ...new Set(selections.flatMap((selection) => selection[id]?.value ?? [])),
  ];
  const [projects, processes, tags] = [valuesOf('project'), valuesOf('process'), valuesOf('tags')];
  const name = 'selection';
  const strange = [...projects, ...processes].filter((value) => !slug.test(value));
  if (strange.length > 0)
    return check(
      name,
      'warn',
      `${strange.map(quoted).join(', ')} does not look like a slug`,
      "copy the slug from the address of the project or the process in the service's pages",
    );
  const names = [
    ...projects.map((project) => ['project', project, findProject] as const),
    ...valuesOf('environment').map((key) => ['environment', key, findEnvironment] as const),
  ];
  const { known, unasked, unknown, problems } = await lookUp(names, caller);
  unknown.push(...processes.map((one) => `process ${one}`), ...tags.map((tag) => `tag ${quoted(tag)}`));
  const missing = [
    ...(selections.some(({ project }) => project === undefined) ? ['project'] : []),
    ...(processes.length + tags.length === 0 ? ['process or tags'] : []),
  ];
  const clause = (start: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${start} ${names.join(', ')}`];
  const detail = [
    ...problems,
    ...clause('the service has', known),
    ...clause('not checked, which needs the service and a bearer token:', unasked),
    ...clause('not checked, since only a run can tell:', unknown),
    ...clause('not set:', missing),
  ].join('; ');
  if (problems.length > 0) return check(name, 'warn', detail, 'set environment to a key of rungate env list');
  const remedy =
    'write "project" and "process" or "tags" into .rungate.json, as rungate init does, or give them to the gate as options';
  if (missing.length > 0) return check(name, 'skip', detail, remedy);
  return check(name, known.length > 0 ? 'ok' : 'skip', detail);
}
