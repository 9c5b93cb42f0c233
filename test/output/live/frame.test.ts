import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { erase, type Frame, redraw, writeAbove } from '../../../src/output/live/frame.ts';
import { liveLines } from '../../../src/output/live/view.ts';
import { type TestScreen, testScreen } from '../../screen.ts';
import { model, plainStyle, run } from './samples.ts';

type Step =
  | { kind: 'draw'; count: number; beat: number }
  | { kind: 'above'; text: string }
  | { kind: 'resize'; columns: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant('draw' as const),
    count: fc.integer({ min: 1, max: 8 }),
    beat: fc.nat({ max: 9 }),
  }),
  fc.record({ kind: fc.constant('above' as const), text: fc.stringMatching(/^[a-z]{1,100}$/) }),
  fc.record({ kind: fc.constant('resize' as const), columns: fc.integer({ min: 20, max: 120 }) }),
);

/** Enough for the view when its lines are broken: what a terminal has moved off its screen, nobody can take away. */
const rows = 60;

/** Plays steps on a screen, as the writer does, and says what a person should see. */
async function play(
  screen: TestScreen,
  steps: readonly Step[],
): Promise<{ log: string[]; frame: Frame | null }> {
  let size = { columns: 80, rows };
  let frame: Frame | null = null;
  let shown = model([run()]);
  const log: string[] = [];
  const next = (): Frame => ({ lines: liveLines(shown, size, plainStyle), size });
  for (const one of steps) {
    if (one.kind === 'draw') {
      shown = model(
        Array.from({ length: one.count }, (_, n) => run({ name: `run_${n}` })),
        { beat: one.beat },
      );
    }
    if (one.kind === 'resize') {
      size = { columns: one.columns, rows };
      screen.resize(one.columns, rows);
    }
    const now = next();
    if (one.kind === 'above') log.push(one.text);
    await screen.write(
      one.kind === 'above' ? writeAbove(frame, `${one.text}\n`, now, true) : redraw(frame, now, true),
    );
    frame = now;
  }
  return { log, frame };
}

describe('a real screen', () => {
  it('shows the lines that were written, then the view, once and whole, whatever happens in between', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const screen = testScreen(80, rows);
        const { log, frame } = await play(screen, steps);
        const view = frame?.lines.map(({ text }) => text) ?? [];
        expect(screen.lines()).toEqual([...log, ...view]);
        expect(screen.cursor().column).toBe(0);
      }),
      { numRuns: 150 },
    );
  });

  it('shows the lines alone once the view is taken away', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        const screen = testScreen(80, rows);
        const { log, frame } = await play(screen, steps);
        if (frame !== null) await screen.write(erase(frame, frame.size.columns, true));
        expect(screen.lines()).toEqual(log);
      }),
      { numRuns: 100 },
    );
  });

  it('has the last column of a line that is as wide as the terminal', async () => {
    const screen = testScreen(40, 10);
    const size = { columns: 40, rows: 10 };
    const lines = liveLines(model([run(), run()]), size, plainStyle);
    expect(lines[0]?.columns).toBe(40);
    await screen.write(redraw(null, { lines, size }, true));
    expect(screen.lines()[0]).toBe(lines[0]?.text);
  });
});

describe('what is written', () => {
  const size = { columns: 80, rows: 24 };
  const frame = (beat: number): Frame => ({
    lines: liveLines(model([run(), run({ name: 'run_b' })], { beat }), size, plainStyle),
    size,
  });

  it('nothing where nothing has changed', () => expect(redraw(frame(1), frame(1), true)).toBe(''));

  it('only the line that has changed, in one synchronized update that shows the cursor again', () => {
    const text = redraw(frame(1), frame(2), true);
    expect(text).toMatch(/^\u001b\[\?2026h\u001b\[\?25l.*\u001b\[\?25h\u001b\[\?2026l$/s);
    expect(text).not.toContain('run_b');
    expect(text).toContain('2 of 2 runs going');
    // Never the whole line or the whole screen: that would flicker.
    expect(text).not.toMatch(/\u001b\[[12][KJ]/);
  });

  it('counts a row a line in terminals that cut lines off instead of breaking them', async () => {
    const narrow = { lines: frame(1).lines, size: { columns: 40, rows: 24 } };
    expect(redraw(frame(1), narrow, false)).toContain('\u001b[4A');
    expect(redraw(frame(1), narrow, true)).toContain('\u001b[7A');
  });
});
