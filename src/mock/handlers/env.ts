import * as z from 'zod/mini';
import type { env } from '../../contract/env.ts';
import type { StoredEnvironment, StoredVariable } from '../data/environments.ts';
import { requireFound } from '../response.ts';
import { announceEvent } from '../sender.ts';
import type { HandlersOf } from '../service.ts';
import { invalidBody, omit, requireBody } from '../validate.ts';
import { type ItemRequest, resource } from './resource.ts';

const nonEmpty = z.nullish(z.string().check(z.minLength(1)));
/** Narrower than the API: neither may be empty. */
const namedEnvironment = z.looseObject({ name: nonEmpty, key: nonEmpty });

/** Fields that a body cannot set. */
const readOnlyFields = ['id', 'createdAt', 'updatedAt', 'variables'];
const contractFields = ['name', 'key', 'baseUrl', 'providerModel', 'version', 'mobileRuntimeOverrides'];

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

const environments = resource({
  name: 'Environment',
  items: ({ account }) => account.environments,
  // Variables have their own endpoints.
  sent: ({ variables: _variables, others, ...environment }: StoredEnvironment) => ({
    ...others,
    ...environment,
  }),
  // To global webhooks only, because an environment belongs to no project.
  announce: (state, change, { id, key }) =>
    announceEvent(state, { type: `environment.${change}`, projectId: null, data: { id, key } }),
});

/** Replaces a secret value in responses; independent of its length. */
export const mask = '********';

function variablesIn({ params, account }: ItemRequest): Map<string, StoredVariable> {
  const id = params.envId ?? params.id ?? '';
  return requireFound(account.environments.get(id), 'Environment', id).variables;
}

const variables = resource({
  name: 'Variable',
  param: 'varId',
  items: variablesIn,
  sent: (variable: StoredVariable) => ({ ...variable, value: variable.secret ? mask : variable.value }),
});

const name = z.string().check(z.minLength(1));
const newVariable = z.looseObject({ name, value: z.string(), secret: z.nullish(z.boolean()) });
const changes = z.looseObject({
  name: z.optional(name),
  value: z.nullish(z.string()),
  secret: z.nullish(z.boolean()),
});

export const envHandlers: HandlersOf<typeof env> = {
  'env.overview': ({ account }) => ({
    body: [...account.environments.values()].map(({ id, name, key, baseUrl, version, variables }) => ({
      id,
      name,
      key,
      baseUrl,
      version,
      variableCount: variables.size,
    })),
  }),

  'env.list': (request) => environments.page(request),

  'env.create': (request) => {
    const { body, account, state, now } = request;
    const { name, key: requestedKey } = requireBody(namedEnvironment, body);
    const key = requestedKey ?? keyFrom(name ?? '');
    if (key === '') throw invalidBody('body.key: required, because no key can be derived from the name');
    refuseTaken(account.environments, 'environment', 'key', key);
    return environments.create(request, {
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
    });
  },

  'env.update': (request) => {
    const before = environments.find(request);
    const { key } = requireBody(namedEnvironment, request.body);
    if (typeof key === 'string')
      refuseTaken(request.account.environments, 'environment', 'key', key, before.id);
    const written = omit(request.body, readOnlyFields);
    return environments.update(request, {
      ...before,
      ...Object.fromEntries(Object.entries(written).filter(([name]) => contractFields.includes(name))),
      updatedAt: request.now,
      others: { ...before.others, ...omit(written, contractFields) },
    });
  },

  'env.delete': environments.delete,

  'env.vars.list': (request) => variables.list(request, [...variablesIn(request).values()], (all) => all),

  'env.vars.create': (request) => {
    const all = variablesIn(request);
    const { name, value, secret } = requireBody(newVariable, request.body);
    refuseTaken(all, 'variable of the environment', 'name', name);
    return variables.create(request, {
      id: request.state.nextId('var'),
      name,
      value,
      secret: secret ?? false,
      createdAt: request.now,
      updatedAt: request.now,
    });
  },

  'env.vars.update': (request) => {
    const variable = variables.find(request);
    const { name = variable.name, value, secret = variable.secret } = requireBody(changes, request.body);
    refuseTaken(variablesIn(request), 'variable of the environment', 'name', name, variable.id);
    // A client that sends the mask back has not seen the secret value: keep it.
    const same = value === undefined || (variable.secret && value === mask);
    return variables.update(request, {
      ...variable,
      name,
      value: same ? variable.value : (value ?? ''),
      secret: secret ?? false,
      updatedAt: request.now,
    });
  },

  'env.vars.delete': variables.delete,
};
