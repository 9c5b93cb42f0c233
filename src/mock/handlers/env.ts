import * as z from 'zod/mini';
import type { env } from '../../contract/env.ts';
import { keyFrom, type StoredEnvironment, type StoredVariable } from '../data/environments.ts';
import { announceEvent } from '../events.ts';
import { requireFound } from '../response.ts';
import type { HandlersOf } from '../service.ts';
import { invalidBody, requireBody } from '../validate.ts';
import { type ItemRequest, resource } from './resource.ts';

const notEmpty = z.string().check(z.minLength(1));
/** Narrower than the API: neither may be empty. */
const namedEnvironment = z.looseObject({ name: z.nullish(notEmpty), key: z.nullish(notEmpty) });

const environments = resource({
  name: 'Environment',
  prefix: 'env',
  unique: 'key',
  items: ({ account }) => account.environments,
  // Variables have their own endpoints.
  sent: ({ variables: _variables, ...environment }: StoredEnvironment) => environment,
  // To global webhooks only, because an environment belongs to no project.
  announce: (state, change, { id, key }) => announceEvent(state, `environment.${change}`, null, { id, key }),
});

/** Replaces a secret value in responses; independent of its length. */
const mask = '********';

function variablesIn({ params, account }: ItemRequest): Map<string, StoredVariable> {
  const id = params.envId ?? params.id ?? '';
  return requireFound(account.environments.get(id), 'Environment', id).variables;
}

const variables = resource({
  name: 'Variable',
  prefix: 'var',
  param: 'varId',
  unique: 'name',
  items: variablesIn,
  sent: (variable: StoredVariable) => ({ ...variable, value: variable.secret ? mask : variable.value }),
});

const newVariable = z.looseObject({ name: notEmpty, value: z.string(), secret: z.nullish(z.boolean()) });
const changes = z.looseObject({
  name: z.optional(notEmpty),
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
    const { name, key: requestedKey } = requireBody(namedEnvironment, request.body);
    const key = requestedKey ?? keyFrom(name ?? '');
    if (key === '') throw invalidBody('body.key: required, because no key can be derived from the name');
    return environments.create(request, {
      baseUrl: undefined,
      providerModel: undefined,
      version: undefined,
      mobileRuntimeOverrides: null,
      ...request.body,
      name: name ?? key,
      key,
      createdAt: request.now,
      updatedAt: request.now,
      variables: new Map(),
    });
  },

  'env.update': (request) => {
    const { variables } = environments.find(request);
    requireBody(namedEnvironment, request.body);
    return environments.update(request, { ...request.body, variables, updatedAt: request.now });
  },

  'env.delete': environments.delete,

  'env.vars.list': (request) => variables.list(request, [...variablesIn(request).values()], (all) => all),

  'env.vars.create': (request) => {
    variablesIn(request);
    const { name, value, secret } = requireBody(newVariable, request.body);
    return variables.create(request, {
      name,
      value,
      secret: secret ?? false,
      createdAt: request.now,
      updatedAt: request.now,
    });
  },

  'env.vars.update': (request) => {
    const before = variables.find(request);
    const { name = before.name, value, secret = before.secret } = requireBody(changes, request.body);
    // A client that sends the mask back has not seen the secret value: keep it.
    const same = value === undefined || (before.secret && value === mask);
    return variables.update(request, {
      name,
      value: same ? before.value : (value ?? ''),
      secret: secret ?? false,
      updatedAt: request.now,
    });
  },

  'env.vars.delete': variables.delete,
};
