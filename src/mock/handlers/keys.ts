import type { keys } from '../../contract/keys.ts';
import { automationScopes } from '../auth.ts';
import type { HandlersOf } from '../service.ts';
import type { ApiKey, State } from '../state.ts';
import { resource } from './resource.ts';

/** Creates an API key, which is valid from then on. */
export function issueKey(state: State, parts: Pick<ApiKey, 'name' | 'scopes' | 'apiKey'>): ApiKey {
  const key = { id: state.nextId('key'), ...parts, createdAt: new Date(state.clock.now()).toISOString() };
  state.keys.set(key.id, key);
  state.credentials.set(key.apiKey, { kind: 'key', scopes: key.scopes });
  return key;
}

const keyResource = resource({
  name: 'API key',
  prefix: 'key',
  items: ({ state }) => state.keys,
  sent: (key: ApiKey) => key,
  announce: ({ credentials }, _change, { apiKey }) => void credentials.delete(apiKey),
});

export const keysHandlers: HandlersOf<typeof keys> = {
  'keys.create': ({ body: { name, scopes = automationScopes }, state }) => ({
    status: 201,
    body: { ...issueKey(state, { name, scopes: [...new Set(scopes)], apiKey: state.nextSecret('rg', 40) }) },
  }),

  'keys.delete': keyResource.delete,
};
