import * as z from 'zod/mini';
import type { env } from '../../contract/env.ts';
import type { Environment, Variable } from '../data/environments.ts';
import type { HandlersOf } from '../handler.ts';
import { known } from '../reply.ts';
import type { Credential, State } from '../state.ts';
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

function environmentOf(state: State, auth: Credential, id: string): Environment {
  return known(state.account(auth.tenant).environments.get(id), 'Environment', id);
}

function refuseTaken(variables: Iterable<Variable>, name: string | undefined, id?: string): void {
  for (const other of variables) {
    if (other.name === name && other.id !== id)
      throw invalidBody(`body.name: another variable of the environment has the name ${name}`);
  }
}

type VariableApi = Pick<
  typeof env,
  'env.vars.list' | 'env.vars.create' | 'env.vars.update' | 'env.vars.delete'
>;

export const variableHandlers: HandlersOf<VariableApi> = {
  'env.vars.list': ({ params, auth, state }) => {
    const { variables } = environmentOf(state, auth, params.id);
    return { body: [...variables.values()].map((variable) => ({ ...sent(variable) })) };
  },

  'env.vars.create': ({ params, body, auth, state, clock }) => {
    const { variables } = environmentOf(state, auth, params.id);
    const { name, value, secret = false } = checkBody(newVariable, body);
    refuseTaken(variables.values(), name);
    const at = new Date(clock.now()).toISOString();
    const variable = { id: state.nextId('var'), name, value, secret, createdAt: at, updatedAt: at };
    variables.set(variable.id, variable);
    return { status: 201, body: sent(variable) };
  },

  'env.vars.update': ({ params, body, auth, state, clock }) => {
    const { variables } = environmentOf(state, auth, params.envId);
    const variable = known(variables.get(params.varId), 'Variable', params.varId);
    const {
      name = variable.name,
      value = variable.value,
      secret = variable.secret,
    } = checkBody(changes, body);
    refuseTaken(variables.values(), name, variable.id);
    Object.assign(variable, { name, value, secret, updatedAt: new Date(clock.now()).toISOString() });
    return { body: sent(variable) };
  },

  'env.vars.delete': ({ params, auth, state }) => {
    const { variables } = environmentOf(state, auth, params.envId);
    variables.delete(known(variables.get(params.varId), 'Variable', params.varId).id);
    return {};
  },
};
