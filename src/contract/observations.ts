import * as z from 'zod/mini';
import { defineApi, get, post, put } from './endpoint.ts';
import {
  anyOrNoBody,
  anyResponse,
  described,
  listOf,
  openBody,
  optional,
  page,
  paged,
  pagedList,
  sentDateTime,
  shown,
} from './fields.ts';

const text = (description: string) => described(optional(z.string()), description);
const filter = (description: string) => described(z.optional(z.string()), description);

/** The API describes only the attributes for filters. */
export const observation = z
  .looseObject({
    status: text('its status'),
    discoveredInEnvironmentKey: text('key of the environment in which it was found'),
    discoveredInEnvironmentVersion: text('version in which it was found'),
    processRunId: text('the process run that found it'),
    createdByAgentTemplateId: text('the agent template that created it'),
  })
  .register(shown, { id: 'Observation' });

/** The API does not describe the query of the search. The text is sent as `q`, anything else unchanged. */
const searchQuery = z.looseObject({
  q: described(z.optional(z.string()), 'the text to search for'),
  ...page,
});

const all = '/api/projects/{projectId}/observations';
const one = `${all}/{observationId}` as const;

const verb = <const Path extends string>(path: Path, summary: string) =>
  post(`${one}/${path}`, summary, anyOrNoBody);

export const observations = defineApi(
  { auth: 'bearer', response: anyResponse },
  {
    'observations.list': get(all, 'List the observations of a project, page by page', {
      ...paged({
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
      ...pagedList(observation),
    }),
    'observations.get': get(one, 'Show one observation', { response: observation, anyBody: true }),
    'observations.search': get(`${all}/search`, 'Search prior observations by meaning or text', {
      query: searchQuery,
      paged: true,
      ...listOf(observation),
    }),
    'observations.create': post(all, 'Record an observation', { body: openBody }),
    'observations.update': put(one, 'Change an observation', { body: openBody }),
    'observations.attach': post(`${one}/attachments`, 'Add an attachment to an observation', {
      body: openBody,
      multipart: true,
    }),
    'observations.confirm': verb('confirm', 'Confirm an observation'),
    'observations.archive': verb('archive', 'Archive an observation'),
    'observations.supersede': verb('supersede', 'Mark an observation as superseded by another'),
    'observations.promoteToTicket': verb('promote-to-ticket', 'Promote an observation to an issue'),
    'observations.promoteToWiki': verb('promote-to-wiki', 'Promote an observation to wiki knowledge'),
  },
);
