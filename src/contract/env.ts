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

export const env = defineApi({
  'env.overview': {
    method: 'GET',
    path: '/api/environments/overview',
    auth: 'bearer',
    summary: 'List the environments at a glance',
    section: '4.4',
    reply: listOf(environment),
  },
  'env.list': {
    method: 'GET',
    path: '/api/environments',
    auth: 'bearer',
    summary: 'List the environments, page by page',
    section: '4.4',
    query: pageQuery({}),
    paged: true,
    reply: paged(environment),
  },
  'env.create': {
    method: 'POST',
    path: '/api/environments',
    auth: 'bearer',
    summary: 'Create an environment',
    section: '4.4',
    body: environmentBody,
    reply: anyReply,
  },
  'env.update': {
    method: 'PUT',
    path: '/api/environments/{id}',
    auth: 'bearer',
    summary: 'Change fields of an environment',
    section: '4.4',
    body: environmentBody,
    reply: anyReply,
  },
  'env.delete': {
    method: 'DELETE',
    path: '/api/environments/{id}',
    auth: 'bearer',
    summary: 'Delete an environment',
    section: '4.4',
    destructive: true,
    reply: anyReply,
  },
  'env.vars.list': {
    method: 'GET',
    path: '/api/environments/{id}/variables',
    auth: 'bearer',
    summary: 'List the variables of an environment',
    section: '4.4',
    reply: listOf(variable),
  },
  'env.vars.create': {
    method: 'POST',
    path: '/api/environments/{id}/variables',
    auth: 'bearer',
    summary: 'Create a variable in an environment',
    section: '4.4',
    body: openBody,
    reply: anyReply,
  },
  'env.vars.update': {
    method: 'PUT',
    path: '/api/environments/{envId}/variables/{varId}',
    auth: 'bearer',
    summary: 'Change a variable of an environment',
    section: '4.4',
    body: openBody,
    reply: anyReply,
  },
  'env.vars.delete': {
    method: 'DELETE',
    path: '/api/environments/{envId}/variables/{varId}',
    auth: 'bearer',
    summary: 'Delete a variable of an environment',
    section: '4.4',
    destructive: true,
    reply: anyReply,
  },
});
