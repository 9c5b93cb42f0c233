import type { EndpointName } from '../contract/index.ts';
import { MockError } from './error.ts';
import type { Credential } from './state.ts';

/** What a new key may do when nobody says: what an automation needs, and nothing that changes the platform. */
export const automationScopes: readonly string[] = [
  'ci:trigger',
  'ci:status',
  'ci:cancel',
  'process:execute',
  'quicktest:execute',
  'testcase:read',
  'testcase:execute',
  'execution:read',
];

/** The endpoints that a key needs a scope for. The known scopes have none for orders: any key may read them. */
const needed: Partial<Record<EndpointName, string>> = {
  'run.trigger': 'ci:trigger',
  'run.status': 'ci:status',
  'run.cancel': 'ci:cancel',
};

/** 403 for a key without the scope of the endpoint. */
export function requireScope(name: EndpointName, { scopes }: Credential): void {
  const scope = needed[name];
  if (scope === undefined || scopes === undefined || scopes.includes(scope)) return;
  const has = scopes.length === 0 ? 'none' : scopes.join(', ');
  throw new MockError(403, 'Forbidden', `${name} needs the scope ${scope}; this API key has ${has}`);
}
