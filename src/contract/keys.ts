import * as z from 'zod/mini';
import { defineApi, post, remove } from './endpoint.ts';
import { anyResponse, described, knownValues, optional, shown } from './fields.ts';

/** The common scopes. Others may exist and are accepted. */
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

/** Any text; `keys create` refuses a token that a header cannot contain. */
const token = z.string().check(z.minLength(1)).register(shown, { pattern: '^[!-~]+$' });

export const keys = defineApi(
  { auth: 'jwt', response: anyResponse },
  {
    'keys.create': post('/api/settings/api-keys', 'Create an API key and show its token once', {
      body: z
        .strictObject({
          name: described(z.string().check(z.minLength(1)), "the key's name"),
          scopes: described(optional(z.array(scope)), 'scopes of the key (default: chosen by the service)'),
        })
        .register(shown, { id: 'KeyFields' }),
      newSecret: true,
      response: z
        .looseObject({ apiKey: described(token, 'the full token, which no later response contains') })
        .register(shown, { id: 'CreatedKey' }),
    }),
    'keys.delete': remove('/api/settings/api-keys/{id}', 'Delete an API key', {
      destructive: 'delete the API key {id}',
    }),
  },
);
