import * as z from 'zod/mini';
import type { env } from '../../contract/env.ts';
import type { Environment } from '../data/environments.ts';
import type { EventType } from '../data/webhooks.ts';
import { announce } from '../deliveries.ts';
import type { HandlersOf } from '../handler.ts';
import { listed, pageOf } from '../paging.ts';
import { known } from '../reply.ts';
import type { State } from '../state.ts';
import { checkBody, invalidBody, without } from '../validate.ts';

const filled = z.optional(z.string().check(z.minLength(1)));
/** Narrower than the contract: neither may be empty. */
const named = z.looseObject({ name: filled, key: filled });

/** Fields that a body has no say in, or that are taken out of it by name. */
const own = ['id', 'createdAt', 'updatedAt', 'variables'];
const shown = ['name', 'key', 'baseUrl', 'providerModel', 'version', 'mobileRuntimeOverrides'];

/** As it is sent: variables have replies of their own. */
function sent({ variables: _variables, others, ...environment }: Environment) {
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

function refuseTaken(environments: Iterable<Environment>, key: string, id?: string): void {
  for (const other of environments) {
    if (other.key === key && other.id !== id)
      throw invalidBody(`body.key: another environment has the key ${key}`);
  }
}

type EnvironmentApi = Omit<typeof env, `env.vars.${string}`>;

/** An environment belongs to no project here: only global webhooks are told. */
function tell(state: State, tenant: string, type: EventType, { id, key }: Environment): void {
  announce(state, tenant, { type, projectId: null, data: { id, key } });
}

export const environmentHandlers: HandlersOf<EnvironmentApi> = {
  'env.overview': ({ account }) => ({
    body: [...account.environments.values()].map(({ id, name, key, baseUrl, version, variables }) => ({
      ...{ id, name, key, baseUrl, version },
      variableCount: variables.size,
    })),
  }),

  'env.list': ({ query, account }) => ({
    body: pageOf(listed([...account.environments.values()]), query, sent),
  }),

  'env.create': ({ body, account: { environments }, tenant, state, now }) => {
    const { name, key = keyFrom(name ?? '') } = checkBody(named, body);
    if (key === '') throw invalidBody('body.key: required where no key can be made from the name');
    refuseTaken(environments.values(), key);
    const environment: Environment = {
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
      others: without(body, [...own, ...shown]),
    };
    environments.set(environment.id, environment);
    tell(state, tenant, 'environment.created', environment);
    return { status: 201, body: sent(environment) };
  },

  'env.update': ({ params, body, account: { environments }, tenant, state, now }) => {
    const before = known(environments.get(params.id), 'Environment', params.id);
    checkBody(named, body);
    if (body.key !== undefined) refuseTaken(environments.values(), body.key, before.id);
    const given = without(body, own);
    const environment: Environment = {
      ...before,
      ...Object.fromEntries(Object.entries(given).filter(([name]) => shown.includes(name))),
      updatedAt: now,
      others: { ...before.others, ...without(given, shown) },
    };
    environments.set(environment.id, environment);
    tell(state, tenant, 'environment.updated', environment);
    return { body: sent(environment) };
  },

  'env.delete': ({ params, account: { environments }, tenant, state }) => {
    const gone = known(environments.get(params.id), 'Environment', params.id);
    environments.delete(gone.id);
    tell(state, tenant, 'environment.deleted', gone);
    return {};
  },
};
