import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { View } from '../../../src/output/live/model.ts';
import { openSpinner } from '../../../src/output/live/spinner.ts';
import { liveLines } from '../../../src/output/live/view.ts';
import { fakeTerminal } from '../../fake-terminal.ts';
import { testScreen } from '../../screen.ts';
import { model, plainStyle, run } from './samples.ts';

type Step =
  | { kind: 'draw'; count: number; elapsedMs: number }
  | { kind: 'above'; text: string }
  | { kind: 'resize'; columns: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('draw' as const),
    count: fc.integer({ min: 1, max: 8 }),
    elapsedMs: fc.nat({ max: 1e6 }),
  }),
  fc.record({ kind: fc.constant('above' as const), text: fc.stringMatching(/^[a-z]{1,100}$/) }),
  fc.record({ kind: fc.constant('resize' as const), columns: fc.integer({ min: 20, max: 120 }) }),
);

/** Enough rows for the view with wrapped lines: lines that have scrolled off the screen cannot be removed. */
const rows = 90;

/** Plays steps on a screen. Returns the lines written above the view, those on the screen, and those of the view. */
async function play(steps: readonly Step[]) {
  const screen = testScreen(80, rows);
  const { terminal, written, resize } = fakeTerminal(80, rows);
  let shown = model([run()]);
  const view: View = (size) => liveLines(shown, size, plainStyle);
  const still = { every: () => () => {}, onExit: () => () => {}, env: {} };
  const spinner = openSpinner(terminal, still, plainStyle, view);
  const log: string[] = [];
  let seen = 0;
  let columns = 80;
  const show = async () => {
    const text = written();
    await screen.write(text.slice(seen));
    seen = text.length;
  };
  await show();
  for (const one of steps) {
    if (one.kind === 'draw') {
      shown = model(
        Array.from({ length: one.count }, (_, n) => run({ name: `run_${n}` })),
        { elapsedMs: one.elapsedMs },
      );
      spinner.draw();
    } else if (one.kind === 'above') {
      log.push(one.text);
      terminal.write(`${one.text}\n`);
    } else {
      columns = one.columns;
      screen.resize(columns, rows);
      resize(columns, rows);
    }
    await show();
  }
  const lines = screen.lines();
  spinner.close();
  await show();
  return { log, lines, left: screen.lines(), view: view({ columns, rows }) };
}

const steps = fc.array(step, { minLength: 1, maxLength: 12 });

it('the screen shows the output and below it the view exactly once, after any drawing, output or resizing, and only the output after its end', async () => {
  await fc.assert(
    fc.asyncProperty(steps, async (all) => {
      const { log, lines, left, view } = await play(all);
      const [first = '', ...rest] = view;
      expect(lines.map((line) => line.replace(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] /, '⠋ '))).toEqual([
        ...log,
        `⠋ ${first}`,
        ...rest,
      ]);
      expect(left).toEqual(log);
    }),
    { numRuns: 20 },
  );
});
