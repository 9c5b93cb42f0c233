import { describe, expect, it } from 'vitest';
import { createDeliveryKinds, kindOf } from '../../src/hub/delivery-kinds.ts';

describe("the name of a delivery's event", () => {
  it.each([
    ['{"event":"run.completed","type":"x"}', 'run.completed'],
    ['{"eventType":"run/started"}', 'run/started'],
    ['{"event":{"name":"x"},"type":"run:ended"}', 'run:ended'],
    ['{"event":"a sentence about a run"}', null],
    [`{"event":"${'x'.repeat(65)}"}`, null],
    ['{"data":{"event":"run.completed"}}', null],
    ['["run.completed"]', null],
    ['null', null],
    ['17', null],
  ])('in %s is %j', (json, kind) => {
    expect(kindOf(json)).toBe(kind);
  });
});

describe('a kind of deliveries', () => {
  const wakes = (kinds: ReturnType<typeof createDeliveryKinds>, kind: string | null, times: number) =>
    Array.from({ length: times }, () => kinds.wakes(kind)).filter(Boolean).length;

  it('wakes gates until five reads have shown that it ends no run, and then one time in ten', () => {
    const kinds = createDeliveryKinds();
    for (let reads = 0; reads < 4; reads += 1) kinds.observe('run.started', false);
    expect(wakes(kinds, 'run.started', 20)).toBe(20);
    kinds.observe('run.started', false);
    expect(wakes(kinds, 'run.started', 20)).toBe(2);
    expect(wakes(kinds, 'run.completed', 20)).toBe(20);
    expect(wakes(kinds, null, 20)).toBe(20);
  });

  it('wakes gates if one read in ten shows an end, since the status may be late', () => {
    const kinds = createDeliveryKinds();
    for (let reads = 0; reads < 50; reads += 1) kinds.observe('run.updated', reads % 10 === 9);
    expect(wakes(kinds, 'run.updated', 20)).toBe(20);
  });

  it('wakes gates again when it begins to end runs', () => {
    const kinds = createDeliveryKinds();
    for (let reads = 0; reads < 1000; reads += 1) kinds.observe('run.changed', false);
    for (let reads = 0; reads < 12; reads += 1) kinds.observe('run.changed', true);
    expect(wakes(kinds, 'run.changed', 20)).toBe(20);
  });

  it('is not learned after a hundred others', () => {
    const kinds = createDeliveryKinds();
    for (let kind = 0; kind < 101; kind += 1)
      for (let reads = 0; reads < 5; reads += 1) kinds.observe(`kind ${kind}`, false);
    expect(wakes(kinds, 'kind 99', 20)).toBe(2);
    expect(wakes(kinds, 'kind 100', 20)).toBe(20);
  });
});
