import fc from 'fast-check';
import type { LiveModel, LiveRun, LiveStyle } from '../../../src/output/live/model.ts';
import { sanitize } from '../../../src/sanitize.ts';

export const plainStyle: LiveStyle = { paint: (_tone, text) => text, link: null, symbols: true };

export function run(fields: Partial<LiveRun> = {}): LiveRun {
  return {
    name: 'run_79e0tee2vbs7',
    retry: 0,
    id: null,
    url: 'https://app.example.test/runs/run_79e0tee2vbs7',
    phase: 'going',
    state: 'in_progress',
    trouble: false,
    failed: 0,
    blocked: 0,
    reads: '3/60',
    elapsedMs: 32_000,
    nextMs: 8000,
    ...fields,
  };
}

export function model(runs: readonly LiveRun[], fields: Partial<LiveModel> = {}): LiveModel {
  return { runs, elapsedMs: 65_000, ...fields };
}

/** Sanitized text as a service could send it. */
const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 60 }),
    fc.string({
      unit: fc.constantFrom('日', '本', 'e\u0301', '👩‍👩‍👧', 'क्षि', '한', 'ﾞ', 'a', ' '),
      maxLength: 40,
    }),
    fc.constantFrom('in_progress', 'run_79e0tee2vbs7', '0b7c1f2a-9d1e-4c55-8d55-1e2f3a4b5c6d'),
  )
  .map(sanitize);

const count = fc.option(fc.nat({ max: 10_000_000 }));

export const anyRun: fc.Arbitrary<LiveRun> = fc.record({
  name: text,
  retry: fc.nat({ max: 3 }),
  id: fc.option(text),
  url: fc.option(fc.webUrl()),
  phase: fc.constantFrom('going', 'pass', 'warn', 'fail'),
  state: text,
  trouble: fc.boolean(),
  failed: count,
  blocked: count,
  reads: fc.tuple(fc.nat(), fc.nat()).map(([n, of]) => `${n}/${of}`),
  elapsedMs: fc.nat({ max: 1e9 }),
  nextMs: fc.option(fc.nat({ max: 1e8 })),
});

export const anyModel: fc.Arbitrary<LiveModel> = fc.record({
  runs: fc.array(anyRun, { maxLength: 30 }),
  elapsedMs: fc.nat({ max: 1e9 }),
});
