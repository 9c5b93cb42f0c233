import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inOrder, type PlanNode, problemIn, selected } from '../../../src/gate/plan/graph.ts';
import { graphs } from './samples.ts';

const nodes = (needs: Record<string, string[]>, advisory: readonly string[] = []): PlanNode[] =>
  Object.entries(needs).map(([name, own]) => ({ name, needs: own, advisory: advisory.includes(name) }));
const namesOf = (list: readonly PlanNode[]) => list.map(({ name }) => name);

describe('a mistake in the needs', () => {
  it.each<[Record<string, string[]>, string[], string]>([
    [{ a: ['a'] }, [], 'the needs form a cycle: a → a'],
    [{ x: [], a: ['x', 'b'], b: ['c'], c: ['b'] }, [], 'the needs form a cycle: b → c → b'],
    [{ web: ['ap'], api: [] }, [], 'gate web needs "ap", which is not a gate'],
    [
      { web: ['perf'], perf: [] },
      ['perf'],
      'gate web needs perf, which is advisory: it never stops anything',
    ],
  ])('is found in %j', (needs, advisory, message) =>
    expect(problemIn(nodes(needs, advisory))?.message).toBe(message),
  );

  it('comes with the name that was probably meant, or else with all names', () => {
    expect(problemIn(nodes({ web: ['ap'], api: [] }))?.hint).toBe('did you mean "api"?');
    expect(problemIn(nodes({ web: ['quux'], api: [] }))?.hint).toBe('the gates are web, api');
  });

  it('is not found in gates whose needs have an order', () =>
    expect(problemIn(nodes({ d: ['b', 'c'], b: ['a'], c: ['a'], a: [] }, ['d']))).toBeNull());
});

describe('the order of gates', () => {
  it('is the given one, except that every gate comes after its needs', () => {
    expect(namesOf(inOrder(nodes({ web: ['api'], perf: [], api: [] })))).toEqual(['perf', 'api', 'web']);
  });

  it('has every gate of any graph once, after its needs', () => {
    fc.assert(
      fc.property(graphs, (graph) => {
        const order = namesOf(inOrder(graph));
        expect(order.toSorted()).toEqual(namesOf(graph).toSorted());
        for (const { name, needs } of graph)
          for (const need of needs) expect(order.indexOf(need)).toBeLessThan(order.indexOf(name));
      }),
    );
  });
});

describe('a selection of gates', () => {
  it.each<[string[], string[]]>([
    [[], ['a', 'b', 'c', 'd']],
    [['d'], ['a', 'b', 'd']],
    [
      ['c', 'b'],
      ['a', 'b', 'c'],
    ],
  ])('%j brings what it needs: %j', (names, expected) =>
    expect(namesOf(selected(nodes({ a: [], b: ['a'], c: [], d: ['b'] }), names))).toEqual(expected),
  );

  it('of any graph is complete, and has nothing else', () => {
    fc.assert(
      fc.property(graphs, fc.nat(), (graph, at) => {
        const { name = '' } = graph[at % graph.length] ?? {};
        const chosen = selected(graph, [name]);
        const has = new Set(namesOf(chosen));
        for (const { needs } of chosen) for (const need of needs) expect(has).toContain(need);
        const needed = new Set([name, ...chosen.flatMap(({ needs }) => needs)]);
        expect(needed).toEqual(has);
      }),
    );
  });
});
