import type { ObservationStatus } from './data/observations.ts';

export type Operation = 'confirm' | 'archive' | 'supersede' | 'promoteToTicket' | 'promoteToWiki';

const superseding = { archive: 'archived', supersede: 'superseded' } as const;
const promoting = { promoteToTicket: 'promoted_to_ticket', promoteToWiki: 'promoted_to_wiki' } as const;

/** What each operation makes of an observation; one that is not there makes no sense in that status. */
const transitions: Record<ObservationStatus, Partial<Record<Operation, ObservationStatus>>> = {
  open: { confirm: 'confirmed', ...superseding, ...promoting },
  confirmed: { ...superseding, ...promoting },
  promoted_to_ticket: superseding,
  promoted_to_wiki: superseding,
  superseded: { archive: 'archived' },
  archived: {},
};

export function nextStatus(status: ObservationStatus, operation: Operation): ObservationStatus | undefined {
  return transitions[status][operation];
}
