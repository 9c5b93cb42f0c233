import * as z from 'zod/mini';
import { defineApi } from './endpoint.ts';
import {
  anyResponse,
  described,
  listOf,
  openBody,
  optional,
  page,
  pagedList,
  pageQuery,
  sentDateTime,
  shown,
} from './fields.ts';

const text = optional(z.string());
const filter = (description: string) => described(z.optional(z.string()), description);

/** The API describes only the attributes for filters. */
export const observation = z
  .looseObject({
    status: text,
    discoveredInEnvironmentKey: text,
    discoveredInEnvironmentVersion: text,
    processRunId: text,
    createdByAgentTemplateId: text,
  })
  .register(shown, { id: 'Observation' });

/** The API does not describe the query of the search. The text is sent as `q`, anything else unchanged. */
const searchQuery = z.looseObject({ q: z.optional(z.string()), ...page });

export const observations = defineApi(
  { auth: 'bearer', response: anyResponse },
  {
    'observations.list': {
      method: 'GET',
      path: '/api/projects/{projectId}/observations',
      summary: 'List the observations of a project, page by page',
      query: pageQuery({
        status: filter('only observations with this status'),
        discoveredInEnvironmentKey: filter('only observations found in this environment'),
        discoveredInEnvironmentVersion: filter('only observations found in this version'),
        processRunId: filter('only observations found by this process run'),
        createdByAgentTemplateId: filter('only observations created by this agent template'),
        createdAfter: described(
          z.optional(sentDateTime),
          'only observations created after this time: a date (its midnight in UTC), or RFC 3339 with a zone',
        ),
      }),
      paged: true,
      ...pagedList(observation),
    },
    'observations.get': {
      method: 'GET',
      path: '/api/projects/{projectId}/observations/{observationId}',
      summary: 'Show one observation',
      response: observation,
      anyBody: true,
    },
    'observations.search': {
      method: 'GET',
      path: '/api/projects/{projectId}/observations/search',
      summary: 'Search prior observations by meaning or text',
      query: searchQuery,
      paged: true,
      ...listOf(observation),
    },
    'observations.create': {
      method: 'POST',
      path: '/api/projects/{projectId}/observations',
      summary: 'Record an observation',
      body: openBody,
    },
    'observations.update': {
      method: 'PUT',
      path: '/api/projects/{projectId}/observations/{observationId}',
      summary: 'Change an observation',
      body: openBody,
    },
    'observations.attach': {
      method: 'POST',
      path: '/api/projects/{projectId}/observations/{observationId}/attachments',
      summary: 'Add an attachment to an observation',
      body: openBody,
      multipart: true,
    },
    'observations.confirm': {
      method: 'POST',
      path: '/api/projects/{projectId}/observations/{observationId}/confirm',
      summary: 'Confirm an observation',
      body: openBody,
      bodyOptional: true,
    },
    'observations.archive': {
      method: 'POST',
      path: '/api/projects/{projectId}/observations/{observationId}/archive',
      summary: 'Archive an observation',
      body: openBody,
      bodyOptional: true,
    },
    'observations.supersede': {
      method: 'POST',
      path: '/api/projects/{projectId}/observations/{observationId}/supersede',
      summary: 'Mark an observation as superseded by another',
      body: openBody,
      bodyOptional: true,
    },
    'observations.promoteToTicket': {
      method: 'POST',
      path: '/api/projects/{projectId}/observations/{observationId}/promote-to-ticket',
      summary: 'Promote an observation to an issue',
      body: openBody,
      bodyOptional: true,
    },
    'observations.promoteToWiki': {
      method: 'POST',
      path: '/api/projects/{projectId}/observations/{observationId}/promote-to-wiki',
      summary: 'Promote an observation to wiki knowledge',
      body: openBody,
      bodyOptional: true,
    },
  },
);
