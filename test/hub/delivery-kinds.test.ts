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
  /** Returns how many of 20 deliveries wake a gate, if one in ten of an idle kind does. */
  function learning() {
    let turn = 0;
    const kinds = createDeliveryKinds(() => {
      turn = (turn + 1) % 10;
      return turn / 10;
    });
    return {
      observe: (kind: string, run: number, ended: boolean) =>
        kinds.observe({ kind, runId: `run_${run}`, ended }),
      wakes: (kind: string | null) =>
        Array.from({ length: 20 }, () => kinds.wakes(kind)).filter(Boolean).length,
    };
  }

  it('wakes gates until 20 runs have not ended with it, and then one time in ten', () => {
    const { observe, wakes } = learning();
    for (let read = 0; read < 100; read += 1) observe('run.started', read % 19, false);
    expect(wakes('run.started')).toBe(20);
    observe('run.started', 19, false);
    expect(wakes('run.started')).toBe(2);
    expect(wakes('run.completed')).toBe(20);
    expect(wakes(null)).toBe(20);
  });

  it('wakes gates if it has ended a run, whatever else it says', () => {
    const { observe, wakes } = learning();
    for (let run = 0; run < 100; run += 1)
      for (let event = 0; event < 6; event += 1) observe('run.updated', run, event === 5 && run % 50 === 0);
    expect(wakes('run.updated')).toBe(20);
  });

  it('wakes gates again when it begins to end runs, and no longer when it has stopped for 100 runs', () => {
    const { observe, wakes } = learning();
    for (let run = 0; run < 1000; run += 1) observe('run.changed', run, false);
    expect(wakes('run.changed')).toBe(2);
    observe('run.changed', 1000, true);
    expect(wakes('run.changed')).toBe(20);
    for (let run = 2000; run < 2100; run += 1) observe('run.changed', run, false);
    expect(wakes('run.changed')).toBe(2);
  });

  it('is not learned after a hundred others', () => {
    const { observe, wakes } = learning();
    for (let kind = 0; kind < 101; kind += 1)
      for (let run = 0; run < 20; run += 1) observe(`kind ${kind}`, run, false);
    expect(wakes('kind 99')).toBe(2);
    expect(wakes('kind 100')).toBe(20);
  });
});
