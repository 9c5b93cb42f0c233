import type { Sliceable } from '../paging.ts';
import type { Observation, ObservationSource } from './observations.ts';

/** The observations of a project, newest first. */
export interface ObservationStore extends Iterable<Observation>, Sliceable<Observation> {
  /** Returns the observations that match a filter; it stores only their positions. */
  matching(wanted: (observation: Observation) => boolean): Sliceable<Observation>;
  find(id: string): Observation | undefined;
  add(observation: Observation): void;
  replace(observation: Observation): void;
}

/** Observations of the data set are created on demand; the store keeps only those that were added or changed. */
export function observationStore(source: ObservationSource): ObservationStore {
  const created = new Map<string, Observation>();
  const order: string[] = [];
  const changed = new Map<number, Observation>();

  const size = () => order.length + source.count;
  const at = (place: number): Observation => {
    const index = place - order.length;
    if (index >= 0) return changed.get(index) ?? source.at(index);
    return created.get(order[order.length - 1 - place] ?? '') as Observation;
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
