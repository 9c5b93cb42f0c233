import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PlanNode } from '../../../src/gate/plan/graph.ts';
import { type GateEnd, type Halt, nextGates } from '../../../src/gate/plan/progress.ts';
import { graphs } from './samples.ts';

const chain: PlanNode[] = [
  { name: 'api', needs: [], advisory: false },
  { name: 'web', needs: ['api'], advisory: false },
  { name: 'e2e', needs: ['web'], advisory: false },
  { name: 'perf', needs: [], advisory: true },
];

const next = (begun: string[], ended: Record<string, GateEnd>, halt: Halt | null = null) =>
  nextGates(chain, { begun: new Set(begun), ended: new Map(Object.entries(ended)), halt });

describe('the next gates', () => {
  it.each<[string, string[], Record<string, GateEnd>, string[]]>([
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
  const ends = fc.infiniteStream(fc.constantFrom<GateEnd>('pass', 'warn', 'fail'));
  fc.assert(
    fc.property(
      graphs,
      ends,
      fc.option(fc.nat(8)),
      fc.infiniteStream(fc.nat()),
      (graph, end, haltAt, pick) => {
        const begun = new Set<string>();
        const ended = new Map<string, GateEnd>();
        let halt: Halt | null = null;
        for (;;) {
          const { begin, skip } = nextGates(graph, { begun, ended, halt });
          for (const { name, reason } of skip) {
            expect(begun.has(name) || ended.has(name)).toBe(false);
            expect(reason).not.toBe('');
            ended.set(name, 'skipped');
          }
          for (const name of begin) {
            expect(halt).toBeNull();
            expect(begun.has(name) || ended.has(name)).toBe(false);
            for (const need of graph.find((node) => node.name === name)?.needs ?? [])
              expect(['pass', 'warn']).toContain(ended.get(need));
            begun.add(name);
          }
          if (skip.length > 0) continue;
          const running = [...begun].filter((name) => !ended.has(name));
          const one = running[pick.next().value % Math.max(1, running.length)];
          if (one === undefined) break;
          ended.set(one, end.next().value);
          if (ended.size === haltAt) halt = { by: 'SIGINT' };
        }
        expect([...ended.keys()].toSorted()).toEqual(graph.map(({ name }) => name).toSorted());
      },
    ),
    { numRuns: 300 },
  );
});
