import * as z from 'zod/mini';
import { defineApi } from './endpoint.ts';
import { anyReply, listOf, openBody, paged, pageQuery, shown } from './fields.ts';

const text = z.optional(z.string());

/** Interface, section 2.8: mobile projects only. */
const mobileRuntimeOverrides = z
  .looseObject({
    deviceName: text,
    udid: text,
    androidAppPackage: text,
    androidAppActivity: text,
  })
  .register(shown, { id: 'MobileRuntimeOverrides' });

/** Interface, section 2.8; other fields exist and are not shown. */
export const environment = z
  .looseObject({
    name: text,
    key: text,
    baseUrl: text,
    providerModel: text,
    version: text,
    mobileRuntimeOverrides: z.optional(z.nullable(mobileRuntimeOverrides)),
  })
  .register(shown, { id: 'Environment' });

const environmentBody = z
  .looseObject({
    name: text,
    key: text,
    baseUrl: text,
    providerModel: text,
    version: text,
    mobileRuntimeOverrides: z.optional(mobileRuntimeOverrides),
  })
  .register(shown, { id: 'EnvironmentFields' });

/** Interface, section 2.12: no field of a variable is shown. */
export const variable = z.looseObject({}).register(shown, { id: 'Variable' });

export const env = defineApi(
  { section: '4.4', auth: 'bearer', reply: anyReply },
  {
    'env.overview': {
      method: 'GET',
      path: '/api/environments/overview',
      summary: 'List the environments at a glance',
      reply: listOf(environment),
    },
    'env.list': {
      method: 'GET',
      path: '/api/environments',
      summary: 'List the environments, page by page',
      query: pageQuery({}),
      paged: true,
      reply: paged(environment),
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
      destructive: true,
    },
    'env.vars.list': {
      method: 'GET',
      path: '/api/environments/{id}/variables',
      summary: 'List the variables of an environment',
      reply: listOf(variable),
    },
    'env.vars.create': {
      method: 'POST',
      path: '/api/environments/{id}/variables',
      summary: 'Create a variable in an environment',
      body: openBody,
    },
    'env.vars.update': {
      method: 'PUT',
      path: '/api/environments/{envId}/variables/{varId}',
      summary: 'Change a variable of an environment',
      body: openBody,
    },
    'env.vars.delete': {
      method: 'DELETE',
      path: '/api/environments/{envId}/variables/{varId}',
      summary: 'Delete a variable of an environment',
      destructive: true,
    },
  },
);
