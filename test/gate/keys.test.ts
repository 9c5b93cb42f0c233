import fc from 'fast-check';
import { expect, it } from 'vitest';
import { linkAfter } from '../../src/gate/chain.ts';
import { newKey, passOver, retry } from '../../src/gate/keys.ts';
import { newRun, unobserved } from '../../src/gate/reads.ts';
import type { GateState, KeyState, Outcome, PlanState, Trust } from '../../src/gate/state.ts';

const plan = { page: null } as PlanState;

function gateWith(trust: Trust, attempt: number | null, retries: number): GateState {
  const key = newKey('first', trust);
  return { key, attempt, rules: { retries }, spare: 'spare', past: [], run: null } as unknown as GateState;
}

const runAt = (id: string, since = 0) => newRun(id, { since, due: since });
const ended = (verdict: Outcome['verdict']): Outcome => ({ ...unobserved(null), verdict, ended: true });

it('a gate has attempt × (1 + retries) + 1 links at most, or 4 if the CI does not count, and then one random key', () => {
  const attempts = fc.option(fc.integer({ min: 1, max: 9 }));
  fc.assert(
    fc.property(attempts, fc.nat(3), (attempt, retries) => {
      const links = attempt === null ? 4 : attempt * (1 + retries) + 1;
      const gate = gateWith('shared', attempt, retries);
      const keys: KeyState[] = [];
      for (let at = 0; at <= links; at += 1) {
        keys.push(gate.key as KeyState);
        passOver(gate, runAt(`r${at}`), ended('failed'), 0);
      }
      expect(keys.map(({ trust }) => trust)).toEqual([...Array(links).fill('shared'), 'random']);
      expect(new Set(keys.map(({ key }) => key)).size).toBe(links + 1);
      for (const [at, { key }] of keys.slice(1, -1).entries())
        expect(key).toBe(linkAfter(keys[at]?.key ?? '', `r${at}`));
    }),
  );
});

it.each<[Trust, boolean, Trust]>([
  ['shared', true, 'job'],
  ['shared', false, 'shared'],
  ['random', true, 'random'],
  ['job', false, 'job'],
])(
  'the key of a retry after a %s key, whose run was seen in progress: %s, is a %s key',
  (trust, live, next) => {
    const gate = gateWith(trust, 2, 1);
    retry(plan, gate, { ...runAt('r'), live }, 0);
    expect(gate.key).toMatchObject({ key: linkAfter('first', 'r'), trust: next });
  },
);

it.each([
  ['failed', 5_000, false],
  ['failed', 5_001, true],
  ['blocked', 5_001, true],
  ['passed', 60_000, false],
] as const)(
  'a run that was passed over, %s after %i ms, may have been the gate’s own: %s',
  (verdict, at, late) => {
    const gate = gateWith('shared', 2, 0);
    passOver(gate, runAt('r'), ended(verdict), at);
    expect(gate.past[0]?.late).toBe(late);
  },
);
