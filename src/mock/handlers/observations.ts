import { createHash } from 'node:crypto';
import * as z from 'zod/mini';
import type { QueryOutput } from '../../contract/endpoint.ts';
import type { observations } from '../../contract/observations.ts';
import { dateTimeMs } from '../../date-time.ts';
import type { Attachment, ObservationStatus, StoredObservation } from '../data/observations.ts';
import type { HandlersOf } from '../service.ts';
import { invalidBody, omit, requireBody, type Upload } from '../validate.ts';
import { observation, observationsOf, verbHandlers } from './observation-verbs.ts';
import type { ItemRequest } from './resource.ts';

function isUpload(file: unknown): file is Upload {
  return typeof file === 'object' && file !== null && 'bytes' in file && file.bytes instanceof Uint8Array;
}

/** Returns the record of an attachment. For a file it has the size and hash, but not the bytes. */
function attachmentFrom(body: Readonly<Record<string, unknown>>, id: string, createdAt: string): Attachment {
  const { file } = body;
  if (!isUpload(file)) return { ...body, id, createdAt };
  const { name, type, bytes } = file;
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  return { id, name, type, size: bytes.length, sha256, createdAt };
}

const title = z.string().check(z.minLength(1));
const text = z.nullish(z.string());
const described = { description: text, severity: text };
const origins = {
  discoveredInEnvironmentKey: text,
  discoveredInEnvironmentVersion: text,
  processRunId: text,
  createdByAgentTemplateId: text,
};
const newObservation = z.looseObject({ title, ...described, ...origins });
const observationChanges = z.looseObject({ title: z.optional(title), ...described, ...origins });

/** Fields that only the service sets. A client may send them back unchanged. */
const readOnlyFields = 'projectId status supersededBy ticketId wikiPageId attachments updatedAt'.split(' ');

/** Throws 422 for a body that changes the status: only operations do that. */
function writable(
  body: Readonly<Record<string, unknown>>,
  status: ObservationStatus,
): Record<string, unknown> {
  if ((body.status ?? status) === status) return omit(body, readOnlyFields);
  throw invalidBody(`body.status: it is ${status}; only confirm, archive, supersede and promotion change it`);
}

type ListQuery = QueryOutput<(typeof observations)['observations.list']>;

const exact = ['status', ...(Object.keys(origins) as (keyof typeof origins)[])] as const;

function filterOf(query: ListQuery): (observation: StoredObservation) => boolean {
  const names = exact.filter((name) => query[name] !== undefined);
  const after = query.createdAfter === undefined ? null : dateTimeMs(query.createdAfter);
  return (observation) =>
    names.every((name) => observation[name] === query[name]) &&
    (after === null || Date.parse(observation.createdAt) > after);
}

/** Normalises text for a search: ignores case and the composition of accented letters. */
const searchable = (text: string) => text.normalize('NFKC').toLowerCase();

/** Returns a filter for observations with every word in their title or description. */
function searchOf(text: string): (observation: StoredObservation) => boolean {
  const words = searchable(text).split(/\s+/).filter(Boolean);
  return ({ title, description }) => {
    const searched = searchable(`${title}\n${description}`);
    return words.every((word) => searched.includes(word));
  };
}

/** A search returns the best matches: here, the newest. */
const maxResults = 50;

const blank = {
  description: '',
  severity: 'medium',
  discoveredInEnvironmentKey: null,
  discoveredInEnvironmentVersion: null,
  processRunId: null,
  createdByAgentTemplateId: null,
  status: 'open',
  supersededBy: null,
  ticketId: null,
  wikiPageId: null,
  attachments: [],
} as const;

const newestFirst = (request: ItemRequest) => [...observationsOf(request).values()].reverse();

export const observationsHandlers: HandlersOf<typeof observations> = {
  'observations.list': (request) =>
    observation.page(request, newestFirst(request).filter(filterOf(request.query))),

  'observations.get': observation.get,

  'observations.search': (request) => {
    const matches = newestFirst(request).filter(searchOf(request.query.q ?? ''));
    return observation.list(request, matches.slice(0, maxResults), (items) => ({ items }));
  },

  'observations.create': (request) => {
    const { params, body, now } = request;
    observationsOf(request);
    const { title } = requireBody(newObservation, body);
    return observation.create(request, {
      ...blank,
      ...writable(body, blank.status),
      projectId: params.projectId,
      title,
      createdAt: now,
      updatedAt: now,
    });
  },

  'observations.update': (request) => {
    const { status } = observation.find(request);
    requireBody(observationChanges, request.body);
    return observation.update(request, { ...writable(request.body, status), updatedAt: request.now });
  },

  'observations.attach': (request) => {
    const { body, state, now } = request;
    const { attachments } = observation.find(request);
    const attachment = attachmentFrom(body, state.nextId('att'), now);
    observation.update(request, { attachments: [...attachments, attachment], updatedAt: now });
    return { status: 201, body: attachment };
  },

  ...verbHandlers,
};
