import { type Draw, drawer, seededIds } from '../random.ts';
import type { StoredEnvironment } from './environments.ts';

export const observationStatuses = [
  'open',
  'confirmed',
  'promoted_to_ticket',
  'promoted_to_wiki',
  'superseded',
  'archived',
] as const;
export type ObservationStatus = (typeof observationStatuses)[number];

export interface Attachment {
  readonly id: string;
  readonly [field: string]: unknown;
}

export interface StoredObservation {
  readonly id: string;
  readonly projectId: string;
  readonly title: string;
  readonly description: string | null;
  readonly status: ObservationStatus;
  readonly severity: string | null;
  readonly discoveredInEnvironmentKey: string | null;
  readonly discoveredInEnvironmentVersion: string | null;
  readonly processRunId: string | null;
  /** Null if a person found it. */
  readonly createdByAgentTemplateId: string | null;
  readonly supersededBy: string | null;
  readonly ticketId: string | null;
  readonly wikiPageId: string | null;
  readonly attachments: readonly Attachment[];
  readonly createdAt: string;
  readonly updatedAt: string;
}

const pages = 'Checkout, Search, Basket, Login, Returns, Gift cards, Profil'.split(', ');

const findings: readonly (readonly [title: string, description: string])[] = [
  ['button does nothing on the first tap', 'The second tap works. No request goes out on the first one.'],
  ['total changes after a reload', 'The amount differs by one cent: rounded per item, then as a whole.'],
  ['form forgets the postcode', 'Going back one step empties the field, the rest stays filled in.'],
  ['shows "undefined" for guests', 'It appears instead of a name. Signed-in customers see their names.'],
  ['breaks names with an apostrophe', 'O&#39;Brien instead of O’Brien, also in the confirmation mail.'],
  ['takes eight seconds on a slow network', 'The page waits for a script of the chat widget.'],
  ['cannot be reached with the keyboard', 'The focus jumps from the header to the footer.'],
  ['layout overlaps in German', '“Versandkostenfreie Lieferung” does not fit its box below 360 pixels.'],
];

/** Repeated according to their frequency. */
const severities = 'low low medium medium medium high critical'.split(' ');
const statuses = [
  ...(['open', 'open', 'open', 'confirmed', 'confirmed'] as const),
  ...observationStatuses.slice(2),
];
const agents = ['agt_explorer', 'agt_explorer', 'agt_accessibility', 'agt_prices', null];

/** The period that the observations of a data set cover. */
const spanMs = 90 * 86_400_000;

function whereFound(draw: Draw, environments: readonly StoredEnvironment[]) {
  const tag = draw.chance(0.9) ? environments[draw.whole(0, Math.min(7, environments.length - 1))] : null;
  return {
    discoveredInEnvironmentKey: tag?.key ?? null,
    discoveredInEnvironmentVersion: tag?.version ?? null,
    processRunId: draw.chance(0.7) ? `run_${draw.id(12)}` : null,
    createdByAgentTemplateId: draw.pick(agents),
  };
}

/** Returns a status with its references. Nothing supersedes the newest observation, so it is open instead. */
function traces(drawn: ObservationStatus, draw: Draw, newer: readonly StoredObservation[]) {
  const status = drawn === 'superseded' && newer.length === 0 ? 'open' : drawn;
  const last = newer.length - 1;
  const successor = status === 'superseded' ? newer[draw.whole(Math.max(0, last - 19), last)] : undefined;
  return {
    status,
    supersededBy: successor?.id ?? null,
    ticketId: status === 'promoted_to_ticket' ? `tck_${draw.id(12)}` : null,
    wikiPageId: status === 'promoted_to_wiki' ? `wiki_${draw.id(12)}` : null,
  };
}

/** Returns the observations of a project, oldest first. */
export function makeObservations(
  seed: number,
  projectId: string,
  count: number,
  environments: readonly StoredEnvironment[],
  until: number,
): StoredObservation[] {
  const nextId = seededIds(seed, 'obs', `observations of ${projectId}`);
  const drawAt = drawer(seed, `observations of ${projectId}`);
  const newestFirst: StoredObservation[] = [];
  for (let index = 0; index < count; index++) {
    const draw = drawAt(index);
    const [finding, description] = draw.pick(findings);
    const age = Math.ceil(((index + draw.fraction()) * spanMs) / count);
    const createdAt = new Date(until - age).toISOString();
    const updatedAt = new Date(until - Math.ceil(age * draw.fraction())).toISOString();
    const after = traces(draw.pick(statuses), draw, newestFirst);
    newestFirst.push({
      id: nextId(),
      projectId,
      title: `${draw.pick(pages)}: ${finding}`,
      description,
      severity: draw.pick(severities),
      ...whereFound(draw, environments),
      ...after,
      attachments: [],
      createdAt,
      updatedAt: after.status === 'open' ? createdAt : updatedAt,
    });
  }
  return newestFirst.reverse();
}
