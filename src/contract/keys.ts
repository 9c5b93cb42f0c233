import * as z from 'zod/mini';
import { defineApi } from './endpoint.ts';
import { anyResponse, described, knownValues, optional, shown } from './fields.ts';

/** Interface, section 2.4: the common scopes; others may exist and go through. */
export const knownScopes = [
  'ci:trigger',
  'ci:status',
  'ci:cancel',
  'process:execute',
  'quicktest:execute',
  'testcase:read',
  'testcase:write',
  'testcase:execute',
  'ticket:read',
  'ticket:write',
  'ticket:retest',
  'execution:read',
  'chat:use',
  'runner:manage',
  'platform:manage',
] as const;

const scope = z.string().check(z.minLength(1)).register(shown, knownValues(knownScopes));

/** Any text is read; `keys create` refuses one that no header can carry. */
const token = z.string().check(z.minLength(1)).register(shown, { pattern: '^[!-~]+$' });

export const keys = defineApi(
  { section: '4.2', auth: 'jwt', response: anyResponse },
  {
    'keys.create': {
      method: 'POST',
      path: '/api/settings/api-keys',
      summary: 'Create an API key; its token is shown this once',
      body: z.strictObject({
        name: z.string().check(z.minLength(1)),
        scopes: described(optional(z.array(scope)), 'what the key allows (default: the service chooses)'),
      }),
      newSecret: true,
      response: z.looseObject({ apiKey: token }),
    },
    'keys.delete': {
      method: 'DELETE',
      path: '/api/settings/api-keys/{id}',
      summary: 'Delete an API key',
      destructive: true,
    },
  },
);
