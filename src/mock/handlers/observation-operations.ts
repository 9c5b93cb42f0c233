import * as z from 'zod/mini';
import type { observations } from '../../contract/observations.ts';
import type { Account } from '../data/account.ts';
import type { ObservationStatus, ObservationStore, StoredObservation } from '../data/observations.ts';
import type { EventType } from '../data/webhooks.ts';
import { MockError, requireFound } from '../response.ts';
import { announceEvent } from '../sender.ts';
import type { HandlersOf, MockRequest, MockResponse } from '../service.ts';
import type { State } from '../state.ts';
import { invalidBody, requireBody } from '../validate.ts';

export type Operation = 'confirm' | 'archive' | 'supersede' | 'promoteToTicket' | 'promoteToWiki';

const retiring = { archive: 'archived', supersede: 'superseded' } as const;
const promoting = { promoteToTicket: 'promoted_to_ticket', promoteToWiki: 'promoted_to_wiki' } as const;

/** The status after each operation; an operation that is not listed conflicts with the status. */
const transitions: Record<ObservationStatus, Partial<Record<Operation, ObservationStatus>>> = {
  open: { confirm: 'confirmed', ...retiring, ...promoting },
  confirmed: { ...retiring, ...promoting },
  promoted_to_ticket: retiring,
  promoted_to_wiki: retiring,
  superseded: { archive: 'archived' },
  archived: {},
};

export function nextStatus(status: ObservationStatus, operation: Operation): ObservationStatus | undefined {
  return transitions[status][operation];
}

type OperationApi = Pick<typeof observations, `observations.${Operation}`>;
type OperationRequest = MockRequest<OperationApi[keyof OperationApi]>;

export function projectOf({ projects }: Account, id: string): ObservationStore {
  return requireFound(projects.get(id), 'Project', id);
}

export function observationIn(account: Account, params: OperationRequest['params']) {
  const store = projectOf(account, params.projectId);
  return {
    store,
    observation: requireFound(store.find(params.observationId), 'Observation', params.observationId),
  };
}

export function announceObservation(
  state: State,
  tenant: string,
  type: EventType,
  observation: StoredObservation,
): void {
  const { id, projectId, title, status } = observation;
  announceEvent(state, tenant, { type, projectId, data: { id, projectId, title, status } });
}

const done: Record<Operation, string> = {
  confirm: 'confirmed',
  archive: 'archived',
  supersede: 'superseded',
  promoteToTicket: 'promoted to a ticket',
  promoteToWiki: 'promoted to the wiki',
};

/** Carries out an operation and returns the changed observation; 409 if its status does not allow the operation. */
function operate(
  { params, account, tenant, state, now }: OperationRequest,
  operation: Operation,
  trace: (observation: StoredObservation, store: ObservationStore) => Partial<StoredObservation> = () => ({}),
): MockResponse<OperationApi[keyof OperationApi]> {
  const { store, observation } = observationIn(account, params);
  const status = nextStatus(observation.status, operation);
  if (status === undefined) {
    const details = `observation ${observation.id} is ${observation.status} and cannot be ${done[operation]}`;
    throw new MockError(409, 'Conflict', details);
  }
  const changed = { ...observation, ...trace(observation, store), status, updatedAt: now };
  store.replace(changed);
  const promoted = operation === 'promoteToTicket' || operation === 'promoteToWiki';
  announceObservation(state, tenant, promoted ? 'observation.promoted' : 'observation.changed', changed);
  return { body: changed };
}

const superseding = z.looseObject({ supersededBy: z.optional(z.string()) });

/** Returns the reference to the observation that supersedes `observation`: another one of the same project. */
function successor(
  body: unknown,
  observation: StoredObservation,
  store: ObservationStore,
): Partial<StoredObservation> {
  const { supersededBy } = requireBody(superseding, body ?? {});
  if (supersededBy === undefined) return {};
  if (supersededBy === observation.id)
    throw invalidBody('body.supersededBy: an observation cannot supersede itself');
  if (store.find(supersededBy) !== undefined) return { supersededBy };
  throw invalidBody(`body.supersededBy: the project has no observation ${JSON.stringify(supersededBy)}`);
}

export const operationHandlers: HandlersOf<OperationApi> = {
  'observations.confirm': (request) => operate(request, 'confirm'),
  'observations.archive': (request) => operate(request, 'archive'),
  'observations.supersede': (request) =>
    operate(request, 'supersede', (observation, store) => successor(request.body, observation, store)),
  'observations.promoteToTicket': (request) =>
    operate(request, 'promoteToTicket', () => ({ ticketId: request.state.nextId('tck') })),
  'observations.promoteToWiki': (request) =>
    operate(request, 'promoteToWiki', () => ({ wikiPageId: request.state.nextId('wiki') })),
};
