import * as z from 'zod/mini';
import { defineApi } from './endpoint.ts';
import { anyResponse, described, listOf, openBody, optional, pagedList, pageQuery, shown } from './fields.ts';

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
  mobileRuntimeOverrides: optional(mobileRuntimeOverrides),
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
    'env.overview': {
      method: 'GET',
      path: '/api/environments/overview',
      summary: 'List an overview of the environments',
      ...listOf(environment),
    },
    'env.list': {
      method: 'GET',
      path: '/api/environments',
      summary: 'List the environments, page by page',
      query: pageQuery({}),
      paged: true,
      ...pagedList(environment),
    },
    'env.create': {
      method: 'POST',
      path: '/api/environments',
      summary: 'Create an environment',
      body: environmentBody,
    },
    'env.update': {
      method: 'PUT',
      path: '/api/environments/{id}',
      summary: 'Change fields of an environment',
      body: environmentBody,
    },
    'env.delete': {
      method: 'DELETE',
      path: '/api/environments/{id}',
      summary: 'Delete an environment',
      destructive: 'delete the environment {id}',
    },
    'env.vars.list': {
      method: 'GET',
      path: '/api/environments/{id}/variables',
      summary: 'List the variables of an environment',
      query: pageQuery({}),
      paged: true,
      ...listOf(variable),
    },
    'env.vars.create': {
      method: 'POST',
      path: '/api/environments/{id}/variables',
      summary: 'Create a variable in an environment',
      body: openBody,
      secretFields,
    },
    'env.vars.update': {
      method: 'PUT',
      path: '/api/environments/{envId}/variables/{varId}',
      summary: 'Change a variable of an environment',
      body: openBody,
      secretFields,
    },
    'env.vars.delete': {
      method: 'DELETE',
      path: '/api/environments/{envId}/variables/{varId}',
      summary: 'Delete a variable of an environment',
      destructive: 'delete the variable {varId} of the environment {envId}',
    },
  },
);
