import type { keys } from '../../contract/keys.ts';
import { automationScopes } from '../auth.ts';
import type { HandlersOf } from '../handler.ts';
import { known } from '../reply.ts';
import type { ApiKey } from '../state.ts';

export const keysHandlers: HandlersOf<typeof keys> = {
  'keys.create': ({ body, auth, state, clock }) => {
    const { tenant } = auth;
    const key: ApiKey = {
      id: state.nextId('key'),
      tenant,
      name: body.name,
      scopes: [...new Set(body.scopes ?? automationScopes)],
      apiKey: state.nextSecret('rg', 40),
      createdAt: new Date(clock.now()).toISOString(),
    };
    state.keys.set(key.id, key);
    state.credentials.set(key.apiKey, { kind: 'key', tenant, scopes: key.scopes });
    const { tenant: _tenant, ...shown } = key;
    return { status: 201, body: shown };
  },

  'keys.delete': ({ params, auth, state }) => {
    const found = state.keys.get(params.id);
    const { id, apiKey } = known(found?.tenant === auth.tenant ? found : undefined, 'API key', params.id);
    state.keys.delete(id);
    state.credentials.delete(apiKey);
    return {};
  },
};
