import type { Caller } from '../../client/caller.ts';
import { api } from '../../contract/index.ts';
import { RungateError, UsageError } from '../../errors.ts';
import { sanitize } from '../../sanitize.ts';
import type { Settings } from '../../settings/names.ts';
import type { Context } from '../context.ts';
import { useEnvironmentId } from '../endpoints/environment-id.ts';
import type { DoctorCheck } from '../result-schemas.ts';
import { check } from './checks.ts';

/** The choice that a gate makes: the settings of one gate, or those of each gate in the project file. */
type Selection = Pick<Settings, 'project' | 'process' | 'tags' | 'environment'>;

/** A slug is a part of a URL. The service may have a narrower rule. */
const slug = /^[\p{L}\p{N}._~-]+$/u;

const quoted = (name: string) => (slug.test(name) ? name : JSON.stringify(sanitize(name)));

const distinct = (values: readonly (string | undefined)[]) => [
  ...new Set(values.filter((value) => value !== undefined)),
];

/** The finding about a name: that it exists, or the problem; null if it could not be checked. */
type Finding = { exists: true } | { problem: string } | null;

/** A 404 proves nothing: the path takes an id, which need not be the slug. */
async function findProject(caller: Caller, projectId: string): Promise<Finding> {
  const input = { params: { projectId }, query: { page: 1, pageSize: 1 } };
  const name = 'observations.list';
  await caller.exchange(name, api[name], input, { maxRequests: 1 });
  return { exists: true };
}

async function findEnvironment(caller: Caller, key: string): Promise<Finding> {
  const params = { id: key };
  const hint = await useEnvironmentId(caller, params);
  if (hint !== undefined) return { problem: hint };
  return params.id === key ? { problem: 'it is an id: a gate takes the key' } : { exists: true };
}

/** Returns null for an error of the service: the checks of access report it. */
async function tried(finding: Promise<Finding>): Promise<Finding> {
  try {
    return await finding;
  } catch (error) {
    if (error instanceof UsageError) return { problem: error.message };
    if (error instanceof RungateError) return null;
    throw error;
  }
}

/**
 * Checks what a gate runs: whether it is set, looks like a slug, and exists, as far as the service can tell without a run.
 * @param caller null without a service or a bearer token
 */
export async function checkSelection(
  { settings, sources }: Pick<Context, 'settings' | 'sources'>,
  caller: Caller | null,
): Promise<DoctorCheck> {
  const selections: Selection[] =
    sources.gates.length > 0 ? sources.gates.map((gate) => gate.settings) : [settings];
  const valuesOf = (id: 'project' | 'process' | 'environment') =>
    distinct(selections.map((selection) => selection[id]?.value));
  const tags = distinct(selections.flatMap((selection) => selection.tags?.value ?? []));
  const [projects, processes, environments] = [
    valuesOf('project'),
    valuesOf('process'),
    valuesOf('environment'),
  ];
  const name = 'selection';
  const missing = [
    ...(selections.some(({ project }) => project === undefined) ? ['project'] : []),
    ...(processes.length + tags.length === 0 ? ['process or tags'] : []),
  ];
  const strange = [...projects, ...processes].filter((value) => !slug.test(value));
  if (strange.length > 0)
    return check(
      name,
      'warn',
      `${strange.map(quoted).join(', ')} does not look like a slug`,
      "copy the slug from the address of the project or the process in the service's pages",
    );

  const known: string[] = [];
  const unasked: string[] = [];
  const unknown: string[] = [];
  const problems: string[] = [];
  const ask = async (what: string, value: string, find: typeof findProject) => {
    const shown = `${what} ${quoted(value)}`;
    if (caller === null) return unasked.push(shown);
    const finding = await tried(find(caller, value));
    if (finding === null) return unknown.push(shown);
    return 'problem' in finding ? problems.push(`${shown}: ${finding.problem}`) : known.push(shown);
  };
  for (const project of projects) await ask('project', project, findProject);
  for (const environment of environments) await ask('environment', environment, findEnvironment);
  unknown.push(...processes.map((one) => `process ${one}`), ...tags.map((tag) => `tag ${quoted(tag)}`));
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
