import * as z from 'zod/mini';
import { defineApi, get, post, put, remove } from './endpoint.ts';
import { anyResponse, described, listOf, openBody, optional, paged, pagedList, shown } from './fields.ts';

const text = (description: string) => described(optional(z.string()), description);

/** Mobile projects only. */
const mobileRuntimeOverrides = z
  .looseObject({
    deviceName: text('device name'),
    udid: text('device UDID'),
    androidAppPackage: text('Android package of the app'),
    androidAppActivity: text('Android activity of the app'),
  })
  .register(shown, { id: 'MobileRuntimeOverrides' });

const fields = {
  name: text('display name'),
  key: text('key that refers to it in other requests'),
  baseUrl: text('base URL of web and API projects'),
  providerModel: text('model to use'),
  version: text('version of the application under test'),
  mobileRuntimeOverrides: described(
    optional(mobileRuntimeOverrides),
    'overrides for this environment; mobile projects only',
  ),
};

/** Other fields exist that the API does not describe. */
export const environment = z.looseObject(fields).register(shown, { id: 'Environment' });

const environmentBody = z.looseObject(fields).register(shown, { id: 'EnvironmentFields' });

/** The API does not describe the fields of a variable. */
export const variable = z.looseObject({}).register(shown, { id: 'Variable' });

/** The API does not say how a variable is marked as a secret, so any value may be one. */
const secretFields = ['value'];

export const env = defineApi(
  { auth: 'bearer', response: anyResponse },
  {
    'env.overview': get('/api/environments/overview', 'Show an overview of the environments', {
      ...listOf(environment),
    }),
    'env.list': get('/api/environments', 'List the environments, page by page', {
      ...paged({}),
      ...pagedList(environment),
    }),
    'env.create': post('/api/environments', 'Create an environment', { body: environmentBody }),
    'env.update': put('/api/environments/{id}', 'Change fields of an environment', { body: environmentBody }),
    'env.delete': remove('/api/environments/{id}', 'Delete an environment', {
      destructive: 'delete the environment {id}',
    }),
    'env.vars.list': get('/api/environments/{id}/variables', 'List the variables of an environment', {
      ...paged({}),
      ...listOf(variable),
    }),
    'env.vars.create': post('/api/environments/{id}/variables', 'Create a variable in an environment', {
      body: openBody,
      secretFields,
    }),
    'env.vars.update': put(
      '/api/environments/{envId}/variables/{varId}',
      'Change a variable of an environment',
      { body: openBody, secretFields },
    ),
    'env.vars.delete': remove(
      '/api/environments/{envId}/variables/{varId}',
      'Delete a variable of an environment',
      { destructive: 'delete the variable {varId} of the environment {envId}' },
    ),
  },
);
