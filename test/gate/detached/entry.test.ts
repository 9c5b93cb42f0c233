import { describe, expect, it } from 'vitest';
import {
  collides,
  type DetachedGate,
  type DetachedSave,
  deciding,
  fetched,
  isPending,
  leaseMs,
  mostRepeats,
  named,
  registered,
  repeatMs,
  replaces,
  saved,
  startAt,
  started,
  startFailed,
} from '../../../src/gate/detached/entry.ts';

const minute = 60_000;
const begin = 1_000 * minute;
const endsAt = begin + 60 * minute;
const names = { id: '1', repository: 'acme/shop', commit: 'c0ffee1', context: 'rungate: shop / checkout' };
const save: DetachedSave = {
  sealed: 'c2VhbGVk',
  runs: ['run_1'],
  endsInMs: 60 * minute,
  done: false,
  released: true,
};
const gate = (own: Partial<DetachedGate> = {}): DetachedGate => ({
  ...registered({ ...names, ref: 'main', pull: '7', order: 1 }, save, 'a', begin),
  lease: null,
  ...own,
});
const startsOf = (count: number, at: number) => ({ starts: { count, at } });
const heldUntil = (until: number) => ({ lease: { job: 'a', until } });

describe('the time of the next job', () => {
  const last = mostRepeats + 1;
  it.each<[when: string, Partial<DetachedGate>, expected: number | null]>([
    ['is the timeout without a delivery', {}, endsAt],
    ['is that of the delivery', { namedAt: begin + 5 }, begin + 5],
    ['is the timeout, if the delivery is later', { namedAt: endsAt + 5 }, endsAt],
    ['waits for the lease', { namedAt: begin + 5, ...heldUntil(begin + 9) }, begin + 9],
    ['does not wait for a lease that was given back', { namedAt: begin + 5, ...heldUntil(0) }, begin + 5],
    ['is the end of a lease that no job has given back', heldUntil(begin + 9), begin + 9],
    ['is 10 minutes after the first start', startsOf(1, begin), begin + repeatMs],
    ['is 10 minutes after the third repeat but one', startsOf(mostRepeats, begin), begin + repeatMs],
    ['is the timeout after the last repeat', startsOf(last, begin), endsAt],
    ['is none after the repeats that follow the timeout', startsOf(last, endsAt), null],
    ['waits after a start that failed', { failed: { count: 1, until: endsAt + 7 } }, endsAt + 7],
    ['is none once the status is set', { done: true, namedAt: begin }, null],
    ['is none once it is replaced', { replacedBy: '2', namedAt: begin }, null],
  ])('%s', (_, own, expected) => {
    expect(startAt(gate(own))).toBe(expected);
  });

  it('comes 4 times before the timeout, and 4 times from it on', () => {
    let each = named(gate(), begin);
    const times: number[] = [];
    for (let at = startAt(each); at !== null; at = startAt(each)) {
      times.push((at - begin) / minute);
      each = started(each, at);
    }
    expect(times).toEqual([0, 10, 20, 30, 60, 70, 80, 90]);
  });

  it('is 1, 2, 4, 8 and then 10 minutes after a start that failed, which does not count', () => {
    let each = named(gate(), begin);
    const waits: number[] = [];
    for (let count = 0; count < 6; count += 1) {
      const at = startAt(each) ?? Number.NaN;
      each = startFailed(started(each, at), each, at);
      waits.push(((startAt(each) ?? Number.NaN) - at) / minute);
    }
    expect(waits).toEqual([1, 2, 4, 8, 10, 10]);
    expect(each.starts.count).toBe(0);
  });
});

describe('a job that hands a gate over', () => {
  const held = () => fetched(gate(startsOf(2, begin)), 'a', begin) as DetachedGate;
  it('may repeat that, which does not hide a delivery that has come since', () => {
    const released = saved(held(), save, 'a', begin) as DetachedGate;
    const heard = named(released, begin + 5);
    expect(saved(heard, save, 'a', begin + minute)).toBe(heard);
    expect(isPending(released, begin)).toBe(true);
  });

  it('neither saves nor decides afterwards, unless it fetches the gate again', () => {
    const released = saved(held(), save, 'a', begin) as DetachedGate;
    expect(saved(released, { ...save, released: false }, 'a', begin)).toBe('leased');
    expect(deciding(released, 'a', begin)).toBe('leased');
    expect(deciding(fetched(released, 'a', begin) as DetachedGate, 'a', begin)).toMatchObject(
      heldUntil(begin + leaseMs),
    );
  });

  it('no longer decides, and has ended the pause after a start that failed', () => {
    const failing = { failed: { count: 3, until: endsAt }, decidesUntil: endsAt };
    const released = saved(fetched(gate(failing), 'a', begin) as DetachedGate, save, 'a', begin);
    expect(released).toMatchObject({ decidesUntil: 0, failed: { count: 0, until: 0 } });
  });

  it('has the repeats counted anew before the timeout, and not after it', () => {
    const starts = (endsInMs: number) =>
      (saved(held(), { ...save, endsInMs }, 'a', begin) as DetachedGate).starts.count;
    expect([starts(1), starts(0), starts(-minute)]).toEqual([0, 2, 2]);
  });
});

describe('a newer gate', () => {
  const newer = (own: Partial<DetachedGate> = {}) => gate({ id: '2', registeredAt: begin + 1, ...own });
  it.each<[boolean, which: string, DetachedGate, Partial<DetachedGate>?]>([
    [true, 'of the same commit and pull request', newer()],
    [true, 'of the pull request with another commit', newer({ commit: 'c0ffee2' })],
    [true, 'of the same commit without a pull request', newer({ pull: null })],
    [true, 'registered in the same millisecond with a later id', newer({ registeredAt: begin })],
    [
      true,
      'with the names in other case',
      newer({ repository: 'Acme/Shop', context: 'Rungate: shop / Checkout' }),
    ],
    [true, 'that is decided', newer({ done: true })],
    [
      true,
      'of a later event, registered first',
      newer({ commit: 'c0ffee2', order: 2, registeredAt: begin - 1 }),
    ],
    [false, 'of an earlier event', newer({ commit: 'c0ffee2', order: 0 })],
    [true, 'of a re-run of an earlier event on the same commit', newer({ order: 0 })],
    [false, 'that tests something else', newer({ kind: 'b' })],
    [false, 'of another repository', newer({ repository: 'acme/other' })],
    [false, 'of another status', newer({ context: 'rungate: shop / search' })],
    [false, 'of another commit and pull request', newer({ commit: 'c0ffee2', pull: '8' })],
    [false, 'of another commit of a branch', newer({ commit: 'c0ffee2', pull: null }), { pull: null }],
    [false, 'than one that is decided', newer(), { done: true }],
    [false, 'than one that is replaced', newer(), { replacedBy: '3' }],
    [false, 'that is the same one', gate()],
    [false, 'that is older', newer({ registeredAt: begin - 1 })],
  ])('replaces (%s) the older one: %s', (expected, _, other, own) => {
    expect(replaces(gate(own), other)).toBe(expected);
  });
});

describe('a gate that tests something else', () => {
  const other = (own: Partial<DetachedGate> = {}) =>
    gate({ id: '2', kind: 'b', registeredAt: begin + 1, ...own });
  it.each<[boolean, which: string, DetachedGate, Partial<DetachedGate>?]>([
    [true, 'of the same commit', other()],
    [true, 'with the name in other case', other({ context: 'Rungate: shop / Checkout' })],
    [true, 'than one that is decided', other(), { done: true }],
    [false, 'that is the same', other({ kind: undefined })],
    [false, 'of another commit', other({ commit: 'c0ffee2' })],
    [false, 'with another status', other({ context: 'rungate: shop / search' })],
    [true, 'that came first', other({ registeredAt: begin - 1 })],
  ])('collides (%s) with another one: %s', (expected, _, later, own) => {
    expect(collides(gate(own), later)).toBe(expected);
  });
});

it('a delivery counts that came between the last read and the save after it, and no earlier one', () => {
  const holds = gate({ ...heldUntil(begin + leaseMs), heardFrom: 0 });
  const kept = saved(holds, { ...save, released: false }, 'a', begin + 10) as DetachedGate;
  const after = saved(kept, save, 'a', begin + 20) as DetachedGate;
  const next = (at: number) => startAt(named(after, at));
  expect([next(begin - 4_000), next(begin - 6_000)]).toEqual([begin - 4_000, after.endsAt]);
});
