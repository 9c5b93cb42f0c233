import type { observations } from '../../contract/observations.ts';
import type { Observation } from '../data/observations.ts';
import { checkBody } from '../fields.ts';
import type { HandlersOf } from '../handler.ts';
import { pageOf } from '../paging.ts';
import { attachmentFrom } from './attachment.ts';
import { newObservation, observationChanges, writable } from './observation-bodies.ts';
import { filterOf, searchOf } from './observation-filter.ts';
import { observationIn, operationHandlers, projectOf, tellOf } from './observation-operations.ts';

/** A search answers with the best: here, the newest that match. */
const mostFound = 50;

const blank = {
  description: '',
  severity: 'medium',
  discoveredInEnvironmentKey: null,
  discoveredInEnvironmentVersion: null,
  processRunId: null,
  createdByAgentTemplateId: null,
};

const fresh = {
  status: 'open',
  supersededBy: null,
  ticketId: null,
  wikiPageId: null,
  attachments: [],
} as const;

function firstOf<T>(items: Iterable<T>, wanted: (item: T) => boolean, most: number): T[] {
  const found: T[] = [];
  for (const item of items) {
    if (found.length === most) break;
    if (wanted(item)) found.push(item);
  }
  return found;
}

const asSent = (observation: Observation) => ({ ...observation });

export const observationsHandlers: HandlersOf<typeof observations> = {
  'observations.list': ({ params, query, auth, state }) => {
    const store = projectOf(state, auth, params.projectId);
    const filter = filterOf(query);
    const list = filter === undefined ? store : store.matching(filter);
    return { body: pageOf(list, query, asSent) };
  },

  'observations.get': ({ params, auth, state }) => ({
    body: asSent(observationIn(state, auth, params).found),
  }),

  'observations.search': ({ params, query, auth, state }) => {
    const store = projectOf(state, auth, params.projectId);
    const text = typeof query.q === 'string' ? query.q : '';
    return { body: { items: firstOf(store, searchOf(text), mostFound).map(asSent) } };
  },

  'observations.create': ({ params, body, auth, state, clock }) => {
    const store = projectOf(state, auth, params.projectId);
    const { title } = checkBody(newObservation, body);
    const at = new Date(clock.now()).toISOString();
    const observation: Observation = {
      ...blank,
      ...writable(body, fresh.status),
      ...fresh,
      id: state.nextId('obs'),
      projectId: params.projectId,
      title,
      createdAt: at,
      updatedAt: at,
    };
    store.add(observation);
    tellOf(state, auth, 'observation.created', observation);
    return { status: 201, body: observation };
  },

  'observations.update': ({ params, body, auth, state, clock }) => {
    const { store, found } = observationIn(state, auth, params);
    checkBody(observationChanges, body);
    const updatedAt = new Date(clock.now()).toISOString();
    const observation: Observation = { ...found, ...writable(body, found.status), updatedAt };
    store.replace(observation);
    return { body: observation };
  },

  'observations.attach': ({ params, body, auth, state, clock }) => {
    const { store, found } = observationIn(state, auth, params);
    const updatedAt = new Date(clock.now()).toISOString();
    const attachment = attachmentFrom(body, state.nextId('att'), updatedAt);
    store.replace({ ...found, attachments: [...found.attachments, attachment], updatedAt });
    return { status: 201, body: attachment };
  },

  ...operationHandlers,
};
