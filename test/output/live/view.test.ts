import fc from 'fast-check';
// ora measures lines with it.
import stringWidth from 'string-width';
import { describe, expect, it } from 'vitest';
import { hyperlink } from '../../../src/output/live/hyperlink.ts';
import { liveLines } from '../../../src/output/live/view.ts';
import { anyModel, model, plainStyle, run } from './samples.ts';

const painted = { ...plainStyle, paint: (_tone: string, text: string) => `\u001b[31m${text}\u001b[39m` };
const linking = { ...painted, link: hyperlink };
const shown = (runs: Parameters<typeof model>[0], columns: number, rows = 24) =>
  liveLines(model(runs), { columns, rows }, plainStyle);

describe('the live view', () => {
  it('is never wider than the terminal and at least one row shorter, for any runs and any size', () => {
    const size = fc.record({
      columns: fc.integer({ min: 1, max: 300 }),
      rows: fc.integer({ min: 1, max: 60 }),
    });
    const style = fc.constantFrom(plainStyle, painted, linking, { ...plainStyle, symbols: false });
    fc.assert(
      fc.property(anyModel, size, style, (any, at, how) => {
        const lines = liveLines(any, at, how);
        expect(lines.length).toBeLessThanOrEqual(at.rows - 1);
        for (const [index, line] of lines.entries()) {
          // ora puts its spinner and a space before the first line.
          expect(stringWidth(line) + (index === 0 ? 2 : 0)).toBeLessThanOrEqual(at.columns);
          expect(line).not.toMatch(/[\r\n]/);
        }
      }),
      { numRuns: 80 },
    );
  });
});

describe('the live view of', () => {
  it('one run has the elapsed time, a heading and a row', () => {
    expect(shown([run()], 80)).toEqual([
      'waiting for 1 run · 1:05',
      '  RUN               STATE        FAILED  BLOCKED  READS  ELAPSED  NEXT POLL',
      '• run_79e0tee2vbs7  in_progress       0        0   3/60     0:32        8 s',
    ]);
  });

  it('several runs has a summary line, and a row with mark, counts and time for each', () => {
    const runs = [
      run({ name: 'a', failed: 1, nextMs: 0, elapsedMs: 3_725_000 }),
      run({ name: 'b', phase: 'pass', state: 'passed', nextMs: null }),
      run({ name: 'c', phase: 'fail', state: 'failed', failed: 12, blocked: 3, nextMs: null }),
      run({ name: 'd', phase: 'warn', state: 'cancelled', nextMs: null }),
      run({ name: 'e', trouble: true, failed: null, blocked: null, nextMs: 90_000 }),
      run({ name: 'f', nextMs: Number.POSITIVE_INFINITY }),
    ];
    expect(shown(runs, 80)).toEqual([
      '3 of 6 running · 1 passed, 1 failed, 1 cancelled · 1:05',
      '  RUN  STATE        FAILED  BLOCKED  READS  ELAPSED  NEXT POLL',
      '• a    in_progress       1        0   3/60  1:02:05        now',
      '✓ b    passed            0        0   3/60     0:32',
      '✗ c    failed           12        3   3/60     0:32',
      '! d    cancelled         0        0   3/60     0:32',
      '! e    in_progress       -        -   3/60     0:32       1:30',
      '• f    in_progress       0        0   3/60     0:32     by hub',
    ]);
  });

  it.each([
    [140, 'RUN STATE FAILED BLOCKED READS ELAPSED NEXT POLL URL'],
    [66, 'RUN STATE FAILED BLOCKED READS NEXT POLL'],
    [57, 'RUN STATE FAILED BLOCKED NEXT POLL'],
    [50, 'RUN STATE FAILED BLOCKED'],
    [39, 'RUN STATE FAILED'],
    [30, 'RUN STATE'],
    [10, 'RUN'],
  ])('a terminal with %i columns shows %s', (columns, heads) => {
    expect(shown([run()], columns)[1]?.trim().replace(/\s+/g, ' ')).toBe(heads);
  });

  it('wide and combining characters is aligned', () => {
    const [, , first, second, third] = shown(
      [run({ name: '日本語' }), run({ name: 'e\u0301e\u0301' }), run({ name: 'plain1' })],
      80,
    );
    expect(first).toMatch(/^• 日本語 {2}in_progress/);
    expect(second).toMatch(/^• e\u0301e\u0301 {6}in_progress/);
    expect(third).toMatch(/^• plain1 {2}in_progress/);
  });

  it.each([
    [2, ['3 of 3 running · 3 not shown · 1:05']],
    [3, ['3 of 3 running · 2 not shown · 1:05', '• a']],
    [4, ['3 of 3 running · 1 not shown · 1:05', '• a', '• b']],
    [5, ['3 of 3 running · 1 not shown · 1:05', '', '• a', '• b']],
    [6, ['3 of 3 running · 1:05', '', '• a', '• b', '• c']],
  ])('three runs on %i rows shows as many as fit', (rows, begins) => {
    const [sum, ...lines] = shown([run({ name: 'a' }), run({ name: 'b' }), run({ name: 'c' })], 80, rows);
    expect([sum, ...lines.map((line) => line.split(/ (?= )/)[0]?.slice(0, 5))]).toEqual(begins);
  });

  it('a terminal with links has the URL as a link on the name and no URL column', () => {
    const style = { ...plainStyle, link: hyperlink };
    const [, head, line] = liveLines(model([run()]), { columns: 200, rows: 24 }, style);
    expect(head).not.toContain('URL');
    expect(line).toContain(
      '\u001b]8;;https://app.example.test/runs/run_79e0tee2vbs7\u001b\\run_79e0tee2vbs7\u001b]8;;\u001b\\',
    );
  });
});
