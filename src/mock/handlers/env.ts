import * as z from 'zod/mini';
import type { env } from '../../contract/env.ts';
import type { Account } from '../data/account.ts';
import type { StoredEnvironment, StoredVariable } from '../data/environments.ts';
import type { EventType } from '../data/webhooks.ts';
import { listed, pageIfRequested, requireFound, servedPage } from '../response.ts';
import { announceEvent } from '../sender.ts';
import type { HandlersOf } from '../service.ts';
import type { State } from '../state.ts';
import { invalidBody, omit, requireBody } from '../validate.ts';

const nonEmpty = z.nullish(z.string().check(z.minLength(1)));
/** Narrower than the API: neither may be empty. */
const namedEnvironment = z.looseObject({ name: nonEmpty, key: nonEmpty });

/** Fields that a body cannot set. */
const readOnlyFields = ['id', 'createdAt', 'updatedAt', 'variables'];
const contractFields = ['name', 'key', 'baseUrl', 'providerModel', 'version', 'mobileRuntimeOverrides'];

/** Returns an environment as sent. Variables have their own endpoints. */
function sentEnvironment({ variables: _variables, others, ...environment }: StoredEnvironment) {
  return { ...others, ...environment };
}

/** `Développement 2` → `developpement-2`. */
function keyFrom(name: string): string {
  const plain = name.normalize('NFKD').replace(/\p{Mark}/gu, '');
  return plain
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '');
}

function refuseTaken<T extends { id: string }>(
  all: Map<string, T>,
  what: string,
  field: string & keyof T,
  value: T[typeof field],
  id?: string,
): void {
  for (const other of all.values()) {
    if (other[field] === value && other.id !== id)
      throw invalidBody(`body.${field}: another ${what} has the ${field} ${value}`);
  }
}

/** Delivers an event to global webhooks only, because an environment belongs to no project. */
function announceEnvironment(
  state: State,
  tenant: string,
  type: EventType,
  { id, key }: StoredEnvironment,
): void {
  announceEvent(state, tenant, { type, projectId: null, data: { id, key } });
}

/** Replaces a secret value in responses; independent of its length. */
export const mask = '********';

const name = z.string().check(z.minLength(1));
const newVariable = z.looseObject({ name, value: z.string(), secret: z.nullish(z.boolean()) });
const changes = z.looseObject({
  name: z.optional(name),
  value: z.nullish(z.string()),
  secret: z.nullish(z.boolean()),
});

function sentVariable(variable: StoredVariable): StoredVariable {
  return variable.secret ? { ...variable, value: mask } : { ...variable };
}

function variablesIn({ environments }: Account, id: string): Map<string, StoredVariable> {
  return requireFound(environments.get(id), 'Environment', id).variables;
}

export const envHandlers: HandlersOf<typeof env> = {
  'env.overview': ({ account }) => ({
    body: [...account.environments.values()].map(({ id, name, key, baseUrl, version, variables }) => ({
      ...{ id, name, key, baseUrl, version },
      variableCount: variables.size,
    })),
  }),

  'env.list': ({ query, account }) => ({
    body: servedPage(listed([...account.environments.values()]), query, sentEnvironment),
  }),

  'env.create': ({ body, account: { environments }, tenant, state, now }) => {
    const { name, key: requestedKey } = requireBody(namedEnvironment, body);
    const key = requestedKey ?? keyFrom(name ?? '');
    if (key === '') throw invalidBody('body.key: required, because no key can be derived from the name');
    refuseTaken(environments, 'environment', 'key', key);
    const environment: StoredEnvironment = {
      id: state.nextId('env'),
      name: name ?? key,
      key,
      baseUrl: body.baseUrl,
      providerModel: body.providerModel,
      version: body.version,
      mobileRuntimeOverrides: body.mobileRuntimeOverrides ?? null,
      createdAt: now,
      updatedAt: now,
      variables: new Map(),
      others: omit(body, [...readOnlyFields, ...contractFields]),
    };
    environments.set(environment.id, environment);
    announceEnvironment(state, tenant, 'environment.created', environment);
    return { status: 201, body: sentEnvironment(environment) };
  },

  'env.update': ({ params, body, account: { environments }, tenant, state, now }) => {
    const before = requireFound(environments.get(params.id), 'Environment', params.id);
    const { key } = requireBody(namedEnvironment, body);
    if (typeof key === 'string') refuseTaken(environments, 'environment', 'key', key, before.id);
    const written = omit(body, readOnlyFields);
    const environment: StoredEnvironment = {
      ...before,
      ...Object.fromEntries(Object.entries(written).filter(([name]) => contractFields.includes(name))),
      updatedAt: now,
      others: { ...before.others, ...omit(written, contractFields) },
    };
    environments.set(environment.id, environment);
    announceEnvironment(state, tenant, 'environment.updated', environment);
    return { body: sentEnvironment(environment) };
  },

  'env.delete': ({ params, account: { environments }, tenant, state }) => {
    const gone = requireFound(environments.get(params.id), 'Environment', params.id);
    environments.delete(gone.id);
    announceEnvironment(state, tenant, 'environment.deleted', gone);
    return {};
  },

  'env.vars.list': ({ params, query, account }) => ({
    body: pageIfRequested(
      [...variablesIn(account, params.id).values()],
      query,
      (variable) => ({ ...sentVariable(variable) }),
      (all) => all,
    ),
  }),

  'env.vars.create': ({ params, body, account, state, now }) => {
    const variables = variablesIn(account, params.id);
    const { name, value, secret } = requireBody(newVariable, body);
    refuseTaken(variables, 'variable of the environment', 'name', name);
    const variable = {
      id: state.nextId('var'),
      name,
      value,
      secret: secret ?? false,
      createdAt: now,
      updatedAt: now,
    };
    variables.set(variable.id, variable);
    return { status: 201, body: sentVariable(variable) };
  },

  'env.vars.update': ({ params, body, account, now }) => {
    const variables = variablesIn(account, params.envId);
    const variable = requireFound(variables.get(params.varId), 'Variable', params.varId);
    const { name = variable.name, value, secret = variable.secret } = requireBody(changes, body);
    refuseTaken(variables, 'variable of the environment', 'name', name, variable.id);
    // A client that sends the mask back has not seen the secret value: keep it.
    const same = value === undefined || (variable.secret && value === mask);
    const kept = same ? variable.value : (value ?? '');
    Object.assign(variable, { name, value: kept, secret: secret ?? false, updatedAt: now });
    return { body: sentVariable(variable) };
  },

  'env.vars.delete': ({ params, account }) => {
    const variables = variablesIn(account, params.envId);
    variables.delete(requireFound(variables.get(params.varId), 'Variable', params.varId).id);
    return {};
  },
};
