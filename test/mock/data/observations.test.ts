import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type ObservationStore,
  observationSource,
  observationStore,
  type StoredObservation,
} from '../../../src/mock/data/observations.ts';

const until = Date.UTC(2026, 0, 1);
const source = (count: number) => observationSource(1, 'shop', count, 10, until);

const change = fc.oneof(
  fc.record({ kind: fc.constant('add' as const) }),
  fc.record({ kind: fc.constant('replace' as const), place: fc.nat() }),
);

function apply(
  store: ObservationStore,
  model: StoredObservation[],
  change: { kind: string; place?: number },
  nth: number,
) {
  if (change.kind === 'add') {
    const added = { ...source(1).at(0), id: `obs_new${nth}`, title: `added ${nth}` };
    store.add(added);
    model.unshift(added);
  } else if (model.length > 0) {
    const place = (change.place ?? 0) % model.length;
    const changed = { ...(model[place] as StoredObservation), title: `changed ${nth}` };
    store.replace(changed);
    model[place] = changed;
  }
}

describe('the observations of a project', () => {
  it('equal those of a plain list after any additions and changes', () => {
    fc.assert(
      fc.property(fc.nat({ max: 12 }), fc.array(change, { maxLength: 20 }), (count, changes) => {
        const store = observationStore(source(count));
        const model = Array.from({ length: count }, (_, index) => source(count).at(index));
        changes.forEach((one, nth) => {
          apply(store, model, one, nth);
        });
        expect(store.size).toBe(model.length);
        expect([...store]).toEqual(model);
        expect(store.slice(1, 3)).toEqual(model.slice(1, 4));
        for (const one of model) expect(store.find(one.id)).toEqual(one);
        const wanted = ({ title }: StoredObservation) => title.includes('e');
        expect(store.matching(wanted).slice(0, 99)).toEqual(model.filter(wanted));
      }),
    );
  });

  it('are created on demand, so that there can be four billion', () => {
    const store = observationStore(source(2 ** 32));
    const [last] = store.slice(2 ** 32 - 1, 5);
    expect(store.find(last?.id ?? '')).toEqual(last);
    expect(store.size).toBe(2 ** 32);
  });

  it('are not found beyond their number', () => {
    const id = source(100).ids.at(50);
    expect(observationStore(source(50)).find(id)).toBeUndefined();
    expect(observationStore(source(51)).find(id)?.id).toBe(id);
  });
});
