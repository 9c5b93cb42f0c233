import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type GateResult,
  type Halt,
  inOrder,
  nextGates,
  type PlanNode,
  problemIn,
  selected,
} from '../../../src/gate/plan/graph.ts';
import { graphs } from './samples.ts';

const nodes = (needs: Record<string, string[]>, advisory: readonly string[] = []): PlanNode[] =>
  Object.entries(needs).map(([name, own]) => ({ name, needs: own, advisory: advisory.includes(name) }));
const namesOf = (list: readonly PlanNode[]) => list.map(({ name }) => name);

describe('a mistake in the needs', () => {
  it.each<[Record<string, string[]>, string[], string]>([
    [{ a: ['a'] }, [], 'the needs form a cycle: a → a'],
    [{ a: ['b'], b: ['a'] }, [], 'the needs form a cycle: a → b → a'],
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

  it('is found in a chain of 5,000 gates', () => {
    const chain = Array.from({ length: 5_000 }, (_, at) => [`g${at}`, [`g${(at + 1) % 5_000}`]]);
    expect(problemIn(nodes(Object.fromEntries(chain)))?.message.split(' → ')).toHaveLength(5_001);
  });
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
    [['c'], ['c']],
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

const chain: PlanNode[] = [
  { name: 'api', needs: [], advisory: false },
  { name: 'web', needs: ['api'], advisory: false },
  { name: 'e2e', needs: ['web'], advisory: false },
  { name: 'perf', needs: [], advisory: true },
];

const next = (begun: string[], results: Record<string, GateResult>, halt: Halt | null = null) =>
  nextGates(chain, { begun: new Set(begun), results: new Map(Object.entries(results)), halt });

describe('the next gates', () => {
  it.each<[string, string[], Record<string, GateResult>, string[]]>([
    ['at first those without needs', [], {}, ['api', 'perf']],
    ['none while a need runs', ['api', 'perf'], {}, []],
    ['those whose needs passed', ['api', 'perf'], { api: 'pass' }, ['web']],
    ['those whose needs passed with a warning', ['api', 'perf'], { api: 'warn' }, ['web']],
    ['none twice', ['api', 'perf', 'web'], { api: 'pass' }, []],
  ])('are %s', (_what, begun, ended, expected) =>
    expect(next(begun, ended)).toEqual({ begin: expected, skip: [] }),
  );

  it('leave out a gate whose need failed, and say why', () =>
    expect(next(['api', 'perf'], { api: 'fail' })).toEqual({
      begin: [],
      skip: [{ name: 'web', reason: 'it needs api, which failed', halted: false }],
    }));

  it('leave out a gate whose need was skipped', () =>
    expect(next(['api', 'perf'], { api: 'fail', web: 'skipped' }).skip).toEqual([
      { name: 'e2e', reason: 'it needs web, which was skipped', halted: false },
    ]));

  it.each<[Halt, string]>([
    [{ by: 'SIGTERM' }, 'rungate was stopped by SIGTERM'],
    [{ failed: 'perf' }, 'perf failed (--fail-fast)'],
  ])('are none after %j', (halt, reason) =>
    expect(next(['api'], {}, halt)).toEqual({
      begin: [],
      skip: ['web', 'e2e', 'perf'].map((name) => ({ name, reason, halted: true })),
    }),
  );
});

it('every gate of any graph begins once, after its needs are met, or is skipped for a reason', () => {
  const ends = fc.infiniteStream(fc.constantFrom<GateResult>('pass', 'warn', 'fail'));
  fc.assert(
    fc.property(
      graphs,
      ends,
      fc.option(fc.nat(8)),
      fc.infiniteStream(fc.nat()),
      (graph, end, haltAt, pick) => {
        const begun = new Set<string>();
        const results = new Map<string, GateResult>();
        let halt: Halt | null = null;
        for (;;) {
          const { begin, skip } = nextGates(graph, { begun, results, halt });
          for (const { name, reason } of skip) {
            expect(begun.has(name) || results.has(name)).toBe(false);
            expect(reason).not.toBe('');
            results.set(name, 'skipped');
          }
          for (const name of begin) {
            expect(halt).toBeNull();
            expect(begun.has(name) || results.has(name)).toBe(false);
            for (const need of graph.find((node) => node.name === name)?.needs ?? [])
              expect(['pass', 'warn']).toContain(results.get(need));
            begun.add(name);
          }
          if (skip.length > 0) continue;
          const running = [...begun].filter((name) => !results.has(name));
          const one = running[pick.next().value % Math.max(1, running.length)];
          if (one === undefined) break;
          results.set(one, end.next().value);
          if (results.size === haltAt) halt = { by: 'SIGINT' };
        }
        expect([...results.keys()].toSorted()).toEqual(graph.map(({ name }) => name).toSorted());
      },
    ),
    { numRuns: 300 },
  );
});
