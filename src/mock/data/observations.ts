import { type Choices, type Draw, drawer, type Ids, seededIds } from '../random.ts';
import type { Sliceable } from '../response.ts';
import { environmentTag } from './environments.ts';

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
  readonly description: string;
  readonly status: ObservationStatus;
  readonly severity: string;
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

const places: Choices<string> = ['Checkout', 'Search', 'Basket', 'Login', 'Returns', 'Gift cards', 'Profil'];

const findings: Choices<readonly [title: string, description: string]> = [
  ['button does nothing on the first tap', 'The second tap works. No request goes out on the first one.'],
  ['total changes after a reload', 'The amount differs by one cent: rounded per item, then as a whole.'],
  ['form forgets the postcode', 'Going back one step empties the field, the rest stays filled in.'],
  ['shows "undefined" for guests', 'It appears instead of a name. Signed-in customers see their names.'],
  ['breaks names with an apostrophe', 'O&#39;Brien instead of O’Brien, also in the confirmation mail.'],
  ['takes eight seconds on a slow network', 'The page waits for a script of the chat widget.'],
  ['cannot be reached with the keyboard', 'The focus jumps from the header to the footer.'],
  ['layout overlaps in German', '“Versandkostenfreie Lieferung” does not fit its box below 360 pixels.'],
];

const severities: Choices<string> = ['low', 'low', 'medium', 'medium', 'medium', 'high', 'critical'];

/** Repeated according to their frequency. */
const statuses: Choices<ObservationStatus> = [
  'open',
  'open',
  'open',
  'confirmed',
  'confirmed',
  'promoted_to_ticket',
  'promoted_to_wiki',
  'superseded',
  'archived',
];

const agents: Choices<string | null> = [
  'agt_explorer',
  'agt_explorer',
  'agt_accessibility',
  'agt_prices',
  null,
];

/** The period that the observations of a data set cover. */
const spanMs = 90 * 86_400_000;

export interface ObservationSource {
  readonly count: number;
  readonly ids: Ids;
  at(index: number): StoredObservation;
}

function whereFound(draw: Draw, tagAt: ReturnType<typeof environmentTag>, environments: number) {
  const tag =
    draw.chance(0.9) && environments > 0 ? tagAt(draw.whole(0, Math.min(7, environments - 1))) : null;
  return {
    discoveredInEnvironmentKey: tag?.key ?? null,
    discoveredInEnvironmentVersion: tag?.version ?? null,
    processRunId: draw.chance(0.7) ? `run_${draw.id(12)}` : null,
    createdByAgentTemplateId: draw.pick(agents),
  };
}

/** Returns a status with its references. Nothing supersedes the newest observation, so it is open instead. */
function traces(drawn: ObservationStatus, draw: Draw, index: number, ids: Ids) {
  const status = drawn === 'superseded' && index === 0 ? 'open' : drawn;
  return {
    status,
    supersededBy: status === 'superseded' ? ids.at(draw.whole(Math.max(0, index - 20), index - 1)) : null,
    ticketId: status === 'promoted_to_ticket' ? `tck_${draw.id(12)}` : null,
    wikiPageId: status === 'promoted_to_wiki' ? `wiki_${draw.id(12)}` : null,
  };
}

/** Newest first: each index is independent, and a greater index is never newer. */
export function observationSource(
  seed: number,
  projectId: string,
  count: number,
  environments: number,
  until: number,
): ObservationSource {
  const ids = seededIds(seed, 'obs', `observations of ${projectId}`);
  const drawAt = drawer(seed, `observations of ${projectId}`);
  const tagAt = environmentTag(seed);
  return {
    count,
    ids,
    at(index) {
      const draw = drawAt(index);
      const [finding, description] = draw.pick(findings);
      const age = Math.ceil(((index + draw.fraction()) * spanMs) / count);
      const createdAt = new Date(until - age).toISOString();
      const updatedAt = new Date(until - Math.ceil(age * draw.fraction())).toISOString();
      const after = traces(draw.pick(statuses), draw, index, ids);
      return {
        id: ids.at(index),
        projectId,
        title: `${draw.pick(places)}: ${finding}`,
        description,
        severity: draw.pick(severities),
        ...whereFound(draw, tagAt, environments),
        ...after,
        attachments: [],
        createdAt,
        updatedAt: after.status === 'open' ? createdAt : updatedAt,
      };
    },
  };
}

/** The observations of a project, newest first. */
export interface ObservationStore extends Iterable<StoredObservation>, Sliceable<StoredObservation> {
  /** Returns the observations that match a filter; it stores only their positions. */
  matching(wanted: (observation: StoredObservation) => boolean): Sliceable<StoredObservation>;
  find(id: string): StoredObservation | undefined;
  add(observation: StoredObservation): void;
  replace(observation: StoredObservation): void;
}

/** Observations of the data set are created on demand; the store keeps only those that were added or changed. */
export function observationStore(source: ObservationSource): ObservationStore {
  const created = new Map<string, StoredObservation>();
  const order: string[] = [];
  const changed = new Map<number, StoredObservation>();

  const size = () => order.length + source.count;
  const at = (place: number): StoredObservation => {
    const index = place - order.length;
    if (index >= 0) return changed.get(index) ?? source.at(index);
    return created.get(order[order.length - 1 - place] ?? '') as StoredObservation;
  };
  const indexOf = (id: string) => {
    const index = source.ids.indexOf(id);
    return index !== undefined && index < source.count ? index : undefined;
  };

  return {
    get size() {
      return size();
    },
    slice(skip, take) {
      const end = Math.min(skip + take, size());
      return Array.from({ length: Math.max(0, end - skip) }, (_, nth) => at(skip + nth));
    },
    matching(wanted) {
      const places: number[] = [];
      for (let place = 0; place < size(); place++) if (wanted(at(place))) places.push(place);
      return { size: places.length, slice: (skip, take) => places.slice(skip, skip + take).map(at) };
    },
    find(id) {
      const index = indexOf(id);
      return index === undefined ? created.get(id) : at(order.length + index);
    },
    add(observation) {
      created.set(observation.id, observation);
      order.push(observation.id);
    },
    replace(observation) {
      const index = indexOf(observation.id);
      if (index === undefined) created.set(observation.id, observation);
      else changed.set(index, observation);
    },
    *[Symbol.iterator]() {
      for (let place = 0; place < size(); place++) yield at(place);
    },
  };
}
