import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { SavedGate, SavedGates, SavedKey } from '../../src/slice/state.ts';
import { readToken, tokenOf } from '../../src/slice/token.ts';

const text = fc.string({ unit: 'binary', maxLength: 20 });
const time = fc.integer({ min: 0, max: 4e12 });
const run = fc.record({
  runId: text,
  appUrl: fc.option(text),
  reattached: fc.boolean(),
  startedAt: time,
  attempts: fc.nat(),
});
const key: fc.Arbitrary<SavedKey> = fc.record(
  { key: text, origin: fc.constantFrom('user' as const, 'job' as const), retry: fc.nat(3), run },
  { requiredKeys: ['key', 'origin'] },
);
const gate: fc.Arbitrary<SavedGate> = fc.record({
  body: fc.option(fc.record({ projectSlug: text, processSlug: text }), { nil: undefined }),
  begunAt: fc.option(time),
  keys: fc.array(key, { maxLength: 3 }),
  failed: fc.constant([]),
  discarded: fc.constant<SavedGate['discarded']>([]),
  doubt: fc.boolean(),
});
const states: fc.Arbitrary<SavedGates> = fc.record({
  ...{ id: text, request: text, startedAt: time, endsAt: time },
  gates: fc.dictionary(text, gate, { maxKeys: 3 }),
});

test('a token returns its state, and is one word for any shell', () => {
  fc.assert(
    fc.property(states, (state) => {
      const token = tokenOf(state);
      expect(token).toMatch(/^[\w.-]+$/);
      expect(readToken(token)).toEqual(JSON.parse(JSON.stringify(state)));
    }),
  );
});

test('a token with a changed, a missing or another character is refused', () => {
  const edits = fc.record({ place: fc.nat(), part: fc.string({ maxLength: 2 }), removed: fc.nat(2) });
  fc.assert(
    fc.property(states, edits, (state, { place, part, removed }) => {
      const token = tokenOf(state);
      const at = place % (token.length + 1);
      const edited = token.slice(0, at) + part + token.slice(at + removed);
      fc.pre(edited !== token);
      expect(readToken(edited)).toBeNull();
      expect(readToken(token.slice(0, at)) === null || at === token.length).toBe(true);
    }),
  );
});

test('a text that is not a token is refused', () => {
  fc.assert(
    fc.property(fc.string(), (given) => {
      expect(readToken(given)).toBeNull();
    }),
  );
});
