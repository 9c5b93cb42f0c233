import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { spawn } from '@lydell/node-pty';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { bin } from '../e2e/built.ts';
import { type TestScreen, testScreen } from '../screen.ts';
import type { Picture, Span } from './picture.ts';

const columns = 80;
const rows = 24;
const everyMs = 350;

/** The end of each run in milliseconds after the first status read, so that the program's start-up time does not matter. */
const script = [
  { gate: 'checkout', outcome: 'passed', endsAfterMs: 2200 },
  { gate: 'search', outcome: 'failed', endsAfterMs: 3300 },
  { gate: 'login', outcome: 'passed', endsAfterMs: 4400 },
] as const;

const projectFile = {
  project: 'shop',
  gates: Object.fromEntries(script.map(({ gate }) => [gate, { process: gate }])),
};

const colours: Readonly<Record<number, Span['tone']>> = {
  1: 'bad',
  2: 'good',
  3: 'warn',
  4: 'busy',
  6: 'busy',
};

/** Returns a row of the screen in parts of one style each. */
function spansOf(screen: TestScreen, row: number): Span[] {
  const spans: Span[] = [];
  const line = screen.terminal.buffer.active.getLine(row);
  for (let column = 0; column < columns; column += 1) {
    const cell = line?.getCell(column);
    if (cell === undefined) continue;
    const tone = cell.isDim()
      ? 'dim'
      : cell.isFgPalette()
        ? (colours[cell.getFgColor()] ?? 'plain')
        : 'plain';
    const text = cell.getChars() || ' ';
    const last = spans.at(-1);
    if (last !== undefined && (last.tone === tone || text === ' ')) last.text += text;
    else spans.push({ column, tone, text });
  }
  // A gap of several blanks separates spans, since a renderer may collapse it into one blank.
  return spans.flatMap(({ column, tone, text }) =>
    [...text.matchAll(/\S+(?: \S+)*/g)].map((part) => ({ column: column + part.index, tone, text: part[0] })),
  );
}

function snapshot(screen: TestScreen): Span[][] {
  return Array.from({ length: rows }, (_, row) => spansOf(screen, row));
}

/** Sets the ends of the runs after the first status read. Returns whether it has done so. */
function planEnds({ state, requests }: MockServer): boolean {
  const runs = [...state.runs.values()];
  if (runs.length < script.length || !requests.some(({ endpoint }) => endpoint === 'run.status'))
    return false;
  for (const [index, { endsAfterMs }] of script.entries()) {
    const run = runs[index];
    if (run !== undefined) run.durationMs = state.clock.monotonic() - run.startedAt + endsAfterMs;
  }
  return true;
}

/** Records a terminal on which `rungate gate` runs three gates, one of which fails. */
export async function recordScene(): Promise<Picture & { exitCode: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'picture-'));
  writeFileSync(join(folder, '.rungate.json'), JSON.stringify(projectFile));
  const mock = await startMock({
    outcome: script.map(({ outcome }) => outcome),
    retryAfterSeconds: 0.9,
    duration: 3_600_000,
  });
  try {
    const screen = testScreen(columns, rows);
    await screen.write('$ rungate gate\r\n');
    const env = {
      PATH: process.env.PATH,
      TERM: 'xterm-256color',
      RUNGATE_API_URL: mock.url,
      RUNGATE_API_KEY: mock.apiKey,
    };
    const program = spawn(process.execPath, [bin, 'gate'], { cols: columns, rows, cwd: folder, env });
    let written = Promise.resolve();
    let pending = '';
    const show = (text: string) => {
      written = written.then(() => screen.write(text));
    };
    // A synchronised update is shown when it is complete, as in a terminal.
    program.onData((data) => {
      pending += data;
      const updateStart = pending.lastIndexOf('\u001b[?2026h');
      const complete = updateStart > pending.lastIndexOf('\u001b[?2026l') ? updateStart : pending.length;
      show(pending.slice(0, complete));
      pending = pending.slice(complete);
    });
    const frames = [snapshot(screen)];
    let planned = false;
    const timer = setInterval(() => {
      if (!planned) planned = planEnds(mock);
      frames.push(snapshot(screen));
    }, everyMs);
    const exitCode = await new Promise<number>((resolve) => program.onExit((exit) => resolve(exit.exitCode)));
    clearInterval(timer);
    show(pending);
    await written;
    frames.push(snapshot(screen));
    return { columns, rows, everyMs, frames, exitCode };
  } finally {
    await mock.close();
    rmSync(folder, { recursive: true });
  }
}
