import * as z from 'zod/mini';
import type { env } from '../../contract/env.ts';
import type { Account } from '../data/account.ts';
import type { Variable } from '../data/environments.ts';
import type { HandlersOf } from '../handler.ts';
import { known } from '../reply.ts';
import { checkBody, invalidBody } from '../validate.ts';

/** What is sent in place of a secret value, however long that is. */
export const mask = '********';

const name = z.string().check(z.minLength(1));
const newVariable = z.looseObject({ name, value: z.string(), secret: z.optional(z.boolean()) });
const changes = z.looseObject({
  name: z.optional(name),
  value: z.optional(z.string()),
  secret: z.optional(z.boolean()),
});

function sent(variable: Variable): Variable {
  return variable.secret ? { ...variable, value: mask } : { ...variable };
}

function variablesOf({ environments }: Account, id: string): Map<string, Variable> {
  return known(environments.get(id), 'Environment', id).variables;
}

function refuseTaken(variables: Iterable<Variable>, name: string | undefined, id?: string): void {
  for (const other of variables) {
    if (other.name === name && other.id !== id)
      throw invalidBody(`body.name: another variable of the environment has the name ${name}`);
  }
}

type VariableApi = Pick<typeof env, Extract<keyof typeof env, `env.vars.${string}`>>;

export const variableHandlers: HandlersOf<VariableApi> = {
  'env.vars.list': ({ params, account }) => ({
    body: [...variablesOf(account, params.id).values()].map((variable) => ({ ...sent(variable) })),
  }),

  'env.vars.create': ({ params, body, account, state, now }) => {
    const variables = variablesOf(account, params.id);
    const { name, value, secret = false } = checkBody(newVariable, body);
    refuseTaken(variables.values(), name);
    const variable = { id: state.nextId('var'), name, value, secret, createdAt: now, updatedAt: now };
    variables.set(variable.id, variable);
    return { status: 201, body: sent(variable) };
  },

  'env.vars.update': ({ params, body, account, now }) => {
    const variables = variablesOf(account, params.envId);
    const variable = known(variables.get(params.varId), 'Variable', params.varId);
    const {
      name = variable.name,
      value = variable.value,
      secret = variable.secret,
    } = checkBody(changes, body);
    refuseTaken(variables.values(), name, variable.id);
    Object.assign(variable, { name, value, secret, updatedAt: now });
    return { body: sent(variable) };
  },

  'env.vars.delete': ({ params, account }) => {
    const variables = variablesOf(account, params.envId);
    variables.delete(known(variables.get(params.varId), 'Variable', params.varId).id);
    return {};
  },
};
