import * as z from 'zod/mini';
import { defineApi, type Schema } from './endpoint.ts';
import { anyReply, dateTime, listOf, openBody, paged, pageQuery, shown } from './fields.ts';

const text = z.optional(z.string());

/** Interface, section 2.10: the filterable attributes are shown, the rest is not. */
export const observation = z
  .looseObject({
    status: text,
    discoveredInEnvironmentKey: z.optional(z.nullable(z.string())),
    discoveredInEnvironmentVersion: z.optional(z.nullable(z.string())),
    processRunId: z.optional(z.nullable(z.string())),
    createdByAgentTemplateId: z.optional(z.nullable(z.string())),
  })
  .register(shown, { id: 'Observation' });

/** Interface, section 4.5: the query of search is not shown; the text goes out as `q`, anything else as given. */
const searchQuery: Schema<Record<string, unknown>> = z.looseObject({ q: text });

export const observations = defineApi({
  'observations.list': {
    method: 'GET',
    path: '/api/projects/{projectId}/observations',
    auth: 'bearer',
    summary: 'List the observations of a project, page by page',
    section: '4.5',
    query: pageQuery({
      status: text,
      discoveredInEnvironmentKey: text,
      discoveredInEnvironmentVersion: text,
      processRunId: text,
      createdByAgentTemplateId: text,
      createdAfter: z.optional(dateTime),
    }),
    paged: true,
    reply: paged(observation),
  },
  'observations.get': {
    method: 'GET',
    path: '/api/projects/{projectId}/observations/{observationId}',
    auth: 'bearer',
    summary: 'Show one observation',
    section: '4.5',
    reply: observation,
  },
  'observations.search': {
    method: 'GET',
    path: '/api/projects/{projectId}/observations/search',
    auth: 'bearer',
    summary: 'Search prior observations by meaning or text',
    section: '4.5',
    query: searchQuery,
    reply: listOf(observation),
  },
  'observations.create': {
    method: 'POST',
    path: '/api/projects/{projectId}/observations',
    auth: 'bearer',
    summary: 'Record an observation',
    section: '4.5',
    body: openBody,
    reply: anyReply,
  },
  'observations.update': {
    method: 'PUT',
    path: '/api/projects/{projectId}/observations/{observationId}',
    auth: 'bearer',
    summary: 'Change an observation',
    section: '4.5',
    body: openBody,
    reply: anyReply,
  },
  'observations.attach': {
    method: 'POST',
    path: '/api/projects/{projectId}/observations/{observationId}/attachments',
    auth: 'bearer',
    summary: 'Add an attachment to an observation',
    section: '4.5',
    body: openBody,
    multipart: true,
    reply: anyReply,
  },
  'observations.confirm': {
    method: 'POST',
    path: '/api/projects/{projectId}/observations/{observationId}/confirm',
    auth: 'bearer',
    summary: 'Confirm an observation',
    section: '4.5',
    body: openBody,
    bodyOptional: true,
    reply: anyReply,
  },
  'observations.archive': {
    method: 'POST',
    path: '/api/projects/{projectId}/observations/{observationId}/archive',
    auth: 'bearer',
    summary: 'Archive an observation',
    section: '4.5',
    body: openBody,
    bodyOptional: true,
    reply: anyReply,
  },
  'observations.supersede': {
    method: 'POST',
    path: '/api/projects/{projectId}/observations/{observationId}/supersede',
    auth: 'bearer',
    summary: 'Mark an observation as superseded by another',
    section: '4.5',
    body: openBody,
    bodyOptional: true,
    reply: anyReply,
  },
  'observations.promoteToTicket': {
    method: 'POST',
    path: '/api/projects/{projectId}/observations/{observationId}/promote-to-ticket',
    auth: 'bearer',
    summary: 'Promote an observation to an issue',
    section: '4.5',
    body: openBody,
    bodyOptional: true,
    reply: anyReply,
  },
  'observations.promoteToWiki': {
    method: 'POST',
    path: '/api/projects/{projectId}/observations/{observationId}/promote-to-wiki',
    auth: 'bearer',
    summary: 'Promote an observation to wiki knowledge',
    section: '4.5',
    body: openBody,
    bodyOptional: true,
    reply: anyReply,
  },
});
