import type { keys } from '../../contract/keys.ts';
import { automationScopes } from '../auth.ts';
import { requireFound } from '../response.ts';
import type { HandlersOf } from '../service.ts';
import type { ApiKey, State } from '../state.ts';

/** Creates an API key, which is valid from then on. */
export function issueKey(state: State, parts: Pick<ApiKey, 'tenant' | 'name' | 'scopes' | 'apiKey'>): ApiKey {
  const key = { id: state.nextId('key'), ...parts, createdAt: new Date(state.clock.now()).toISOString() };
  state.keys.set(key.id, key);
  state.credentials.set(key.apiKey, { kind: 'key', tenant: key.tenant, scopes: key.scopes });
  return key;
}

export const keysHandlers: HandlersOf<typeof keys> = {
  'keys.create': ({ body, tenant, state }) => {
    const { name } = body;
    const scopes = body.scopes ?? automationScopes;
    const apiKey = state.nextSecret('rg', 40);
    const { tenant: _, ...shown } = issueKey(state, { tenant, name, scopes: [...new Set(scopes)], apiKey });
    return { status: 201, body: shown };
  },

  'keys.delete': ({ params, tenant, state }) => {
    const key = state.keys.get(params.id);
    const { id, apiKey } = requireFound(key?.tenant === tenant ? key : undefined, 'API key', params.id);
    state.keys.delete(id);
    state.credentials.delete(apiKey);
    return {};
  },
};
