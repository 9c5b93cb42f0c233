import * as z from 'zod/mini';
import type { observations } from '../../contract/observations.ts';
import type { ObservationStatus, StoredObservation } from '../data/observations.ts';
import type { EventType } from '../data/webhooks.ts';
import { announceEvent } from '../events.ts';
import { MockError, requireFound } from '../response.ts';
import type { HandlersOf, MockRequest, MockResponse } from '../service.ts';
import type { State } from '../state.ts';
import { invalidBody, requireBody } from '../validate.ts';
import { type ItemRequest, resource } from './resource.ts';

type Verb = 'confirm' | 'archive' | 'supersede' | 'promoteToTicket' | 'promoteToWiki';
type VerbApi = Pick<typeof observations, `observations.${Verb}`>;
type VerbEndpoint = VerbApi[keyof VerbApi];
type VerbRequest = MockRequest<VerbEndpoint>;

/** Returns the observations of the request's project, oldest first. */
export function observationsOf({ params, account }: ItemRequest): Map<string, StoredObservation> {
  const id = params.projectId ?? '';
  return requireFound(account.projects.get(id), 'Project', id);
}

function announce(state: State, type: EventType, observation: StoredObservation): void {
  const { id, projectId, title, status } = observation;
  announceEvent(state, type, projectId, { id, projectId, title, status });
}

export const observation = resource({
  name: 'Observation',
  prefix: 'obs',
  param: 'observationId',
  items: observationsOf,
  sent: (one: StoredObservation) => ({ ...one }),
  announce: (state, change, one) => change === 'created' && announce(state, 'observation.created', one),
});

interface VerbRow {
  readonly from: readonly ObservationStatus[];
  readonly to: ObservationStatus;
  /** Completes "cannot be …"; by default the new status. */
  readonly done?: string;
  /** Default `observation.changed`. */
  readonly event?: EventType;
  /** Returns the fields that the verb sets besides the status. */
  trace?(request: VerbRequest, before: StoredObservation): Partial<StoredObservation>;
}

const superseding = z.looseObject({ supersededBy: z.optional(z.string()) });

/** Returns the reference to the observation that supersedes `before`: another one of the same project. */
function successor(request: VerbRequest, before: StoredObservation): Partial<StoredObservation> {
  const { supersededBy } = requireBody(superseding, request.body ?? {});
  if (supersededBy === undefined) return {};
  if (supersededBy === before.id)
    throw invalidBody('body.supersededBy: an observation cannot supersede itself');
  if (observationsOf(request).has(supersededBy)) return { supersededBy };
  throw invalidBody(`body.supersededBy: the project has no observation ${JSON.stringify(supersededBy)}`);
}

/** Carries out a verb and returns the changed observation; 409 if its status does not allow the verb. */
function verb({ from, to, done = to, event = 'observation.changed', trace }: VerbRow) {
  return (request: VerbRequest): MockResponse<VerbEndpoint> => {
    const before = observation.find(request);
    if (!from.includes(before.status)) {
      const details = `observation ${before.id} is ${before.status} and cannot be ${done}`;
      throw new MockError(409, 'Conflict', details);
    }
    const changes = { ...trace?.(request, before), status: to, updatedAt: request.now };
    const { body } = observation.update(request, changes);
    announce(request.state, event, body);
    return { body };
  };
}

const fresh = ['open', 'confirmed'] as const;
const promoted = ['promoted_to_ticket', 'promoted_to_wiki'] as const;
const promotion = { from: fresh, event: 'observation.promoted' } as const;

export const verbHandlers: HandlersOf<VerbApi> = {
  'observations.confirm': verb({ from: ['open'], to: 'confirmed' }),
  'observations.archive': verb({ from: [...fresh, ...promoted, 'superseded'], to: 'archived' }),
  'observations.supersede': verb({ from: [...fresh, ...promoted], to: 'superseded', trace: successor }),
  'observations.promoteToTicket': verb({
    ...promotion,
    to: 'promoted_to_ticket',
    done: 'promoted to a ticket',
    trace: ({ state }) => ({ ticketId: state.nextId('tck') }),
  }),
  'observations.promoteToWiki': verb({
    ...promotion,
    to: 'promoted_to_wiki',
    done: 'promoted to the wiki',
    trace: ({ state }) => ({ wikiPageId: state.nextId('wiki') }),
  }),
};
