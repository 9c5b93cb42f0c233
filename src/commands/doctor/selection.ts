import type { Caller } from '../../client/caller.ts';
import { api } from '../../contract/index.ts';
import { RungateError, UsageError } from '../../errors.ts';
import { excerpt } from '../../sanitize.ts';
import type { Context } from '../context.ts';
import { useEnvironmentId } from '../endpoints/environment-id.ts';
import { check, type DoctorCheck } from './checks.ts';

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

const finders = { project: findProject, environment: findEnvironment };

/** The kinds of facts about names, and the beginnings of clauses about them. */
const clauses = {
  problem: '',
  known: 'the service has ',
  unasked: 'not checked, because that needs the service and a bearer token: ',
  unknown: 'not checked, because only a run can tell: ',
  missing: 'not set: ',
};
type Fact = readonly [kind: keyof typeof clauses, text: string];

/** Returns what is known about a name. An error of the service tells nothing: the checks of access report it. */
async function lookUp(what: keyof typeof finders, name: string, caller: Caller | null): Promise<Fact> {
  const shown = `${what} ${name}`;
  if (caller === null) return ['unasked', shown];
  try {
    const problem = await finders[what](caller, name);
    return problem === null ? ['known', shown] : ['problem', `${shown}: ${problem}`];
  } catch (error) {
    if (!(error instanceof RungateError)) throw error;
    return error instanceof UsageError ? ['problem', `${shown}: ${error.message}`] : ['unknown', shown];
  }
}

/**
 * Checks what a gate runs, or each gate in the project file: whether it is set and exists, as far as the service can tell without
 * a run.
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
  const runs = [
    ...valuesOf('process').map((process) => `process ${process}`),
    ...valuesOf('tags').map((tag) => `tag ${tag}`),
  ];
  const facts: Fact[] = [];
  for (const what of ['project', 'environment'] as const)
    for (const name of valuesOf(what)) facts.push(await lookUp(what, name, caller));
  facts.push(...runs.map((text): Fact => ['unknown', text]));
  if (selections.some(({ project }) => project === undefined)) facts.push(['missing', 'project']);
  if (runs.length === 0) facts.push(['missing', 'process or tags']);
  const has = (wanted: Fact[0]) => facts.some(([kind]) => kind === wanted);
  const kinds = (Object.keys(clauses) as Fact[0][]).filter(has);
  const texts = kinds.map((kind) => {
    const shown = facts.filter((fact) => fact[0] === kind).map(([, text]) => text);
    return `${clauses[kind]}${shown.join(', ')}`;
  });
  const detail = excerpt(texts.join('; '), 800);
  const name = 'selection';
  if (has('problem')) return check(name, 'warn', detail, 'set environment to a key from rungate env list');
  const remedy =
    'write "project" and "process" or "tags" into .rungate.json, as rungate init does, or give them to the gate as options';
  if (has('missing')) return check(name, 'skip', detail, remedy);
  return check(name, has('known') ? 'ok' : 'skip', detail);
}
