import { afterEach, describe, expect, it } from 'vitest';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { until } from '../until.ts';
import { program } from './built.ts';
import { inTerminal, type Terminal } from './pty.ts';

let mock: MockServer;
let env: Record<string, string>;
afterEach(() => mock.close());

/** Starts a mock and creates runs. Returns their ids. */
async function runs(count: number, options: MockOptions): Promise<string[]> {
  mock = await startMock({ retryAfterSeconds: 0.3, ...options });
  env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, NO_COLOR: '1' };
  const ids: string[] = [];
  for (let n = 0; n < count; n += 1) {
    const response = await fetch(`${mock.url}/api/ci/runs`, {
      method: 'POST',
      headers: { 'x-api-key': mock.apiKey, 'content-type': 'application/json' },
      body: JSON.stringify({ projectSlug: 'a', processSlug: 'b' }),
    });
    ids.push(((await response.json()) as { runId: string }).runId);
  }
  return ids;
}

/** Ends the runs now, however long the program took to start. */
function endRuns(): void {
  const { runs, clock } = mock.state;
  for (const run of runs.values()) run.durationMs = clock.monotonic() - run.startedAt;
}

const hour = 3_600_000;
const mark = '[•✓✗!⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]';
const viewLine = new RegExp(`^(  R(UN|…)?\\b.*|${mark} \\S+…?\\S*( .*)?)$`, 'u');

const isView = (lines: readonly string[]) => lines.some((line) => /^ {2}R.*STATE/.test(line));

/** Checks that no frame has a partial line, a duplicated line, or an outdated view above the current one. */
function expectCompleteFrames({ frames }: Terminal, ids: readonly string[], other: RegExp = /^$/): void {
  for (const lines of frames.filter(isView)) {
    const odd = lines.filter((line) => !viewLine.test(line) && !other.test(line));
    expect(odd, lines.join('\n')).toEqual([]);
    expect(
      lines.filter((line) => line.startsWith('  R')),
      lines.join('\n'),
    ).toHaveLength(1);
    const sums = lines.filter((line) => /\d of \d+ running/.test(line));
    expect(sums.length, lines.join('\n')).toBe(ids.length > 1 ? 1 : 0);
    for (const id of ids) {
      const own = lines.filter((line) => line.startsWith(id, 2));
      expect(own.length, lines.join('\n')).toBeLessThanOrEqual(1);
    }
  }
}

describe('the live view in a pseudo-terminal', () => {
  it.each([
    [5, 20, 24],
    [30, 200, 50],
  ])(
    'with %i runs, %i columns and %i rows is complete in every frame, and leaves only the summary',
    async (count, columns, rows) => {
      // Many runs share 60 reads a minute, which leaves two for each.
      const retryAfterSeconds = count > 10 ? 2 : 0.3;
      const ids = await runs(count, { outcome: 'failed', duration: hour, retryAfterSeconds });
      const terminal = inTerminal(['run', 'wait', ...ids], env, { columns, rows });
      await until(() => terminal.frames.filter(isView).length > 3 && mock.requests.length >= 2 * count);
      endRuns();
      expect(await terminal.ended).toBe(1);
      expectCompleteFrames(terminal, ids);
      const left = terminal.screen.lines();
      const narrow = columns < 60;
      if (!narrow) expect(left[0]).toMatch(/^RUN +VERDICT +STATE +FAILED +BLOCKED/);
      for (const id of ids) expect(left.filter((line) => line.startsWith(id))).toHaveLength(1);
      expect(left.join(' ').replace(/\s+/g, ' ')).toMatch(/✗ gate failed \(exit 1\)$/);
      expect(left.join('\n')).not.toMatch(/of \d+ running|NEXT POLL|[•⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
      expect(terminal.screen.cursor()).toEqual({ row: expect.any(Number), column: 0 });
      expect(terminal.raw().lastIndexOf('\u001b[?25h')).toBeGreaterThan(
        terminal.raw().lastIndexOf('\u001b[?25l'),
      );
    },
  );

  it.each<[string, NodeJS.Signals, number, (terminal: Terminal) => void]>([
    ['on Ctrl-C', 'SIGINT', 130, ({ pty }) => pty.write('\u0003')],
    ['when the terminal is closed', 'SIGHUP', 129, (terminal) => terminal.kill('SIGHUP')],
  ])(
    'disappears %s, the run is cancelled, and the cursor is visible again',
    async (_how, signal, code, stop) => {
      await runs(0, { outcome: 'stuck' });
      const terminal = inTerminal(['run', 'trigger', '--project', 'a', '--process', 'b', '--wait'], env);
      await terminal.shows(/NEXT POLL/);
      stop(terminal);
      expect(await terminal.ended).toBe(code);
      const left = terminal.screen.lines().join('\n');
      expect(left).toMatch(new RegExp(`stopping on ${signal}[^]*asked the service to cancel`));
      expect(left).not.toMatch(/NEXT POLL|[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/);
      expect(terminal.raw().endsWith('\u001b[?25l')).toBe(false);
    },
  );

  it('is a spinner for other commands that wait for the service, which disappears on Ctrl-C', async () => {
    const [id = ''] = await runs(1, { outcome: 'stuck' });
    mock.faults.add({ kind: 'stall-headers', endpoint: 'run.status', times: 99 });
    const terminal = inTerminal(['run', 'status', id], env);
    await terminal.shows(/^[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏] waiting for 127\.0\.0\.1:\d+$/);
    terminal.pty.write('\u0003');
    await terminal.ended;
    expect(terminal.screen.lines()).toEqual([]);
    expect(terminal.raw()).toMatch(/\u001b\[\?25l[\s\S]*\u001b\[\?25h$/);
  });
});

it('Ctrl-C in a terminal reaches the command of mock exec once, so a gate has the time to cancel its run', async () => {
  mock = await startMock();
  const command = [...program, 'run', 'trigger', '--project', 'a', '--process', 'b', '--wait', '--json'];
  const exec = ['mock', 'exec', '--outcome', 'stuck', '--retry-after', '1', '--', ...command];
  const terminal = inTerminal(exec, { NO_COLOR: '1' });
  await terminal.shows(/in_progress/);
  terminal.pty.write('\x03');
  expect(await terminal.ended).toBe(130);
  expect(terminal.raw()).toContain('"cancellation": "requested"');
});
