import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Io } from '../../../src/host/io.ts';
import type { Size } from '../../../src/output/live/model.ts';
import { inRepository, memoryIo, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { main } from '../../cli/main.ts';
import { fakeTerminal } from '../../fake-terminal.ts';
import { type TestScreen, testScreen } from '../../screen.ts';

let on: Stage;
// Load it first: otherwise a command may end before it is loaded.
beforeAll(() => import('../../../src/output/live/spinner.ts'));
afterEach(() => on.close());

interface Watched {
  code: number;
  out: string;
  /** Everything that was written to the terminal. */
  written: string;
  screen: TestScreen;
}

/** Runs a command with a terminal in memory, on the fake clock. Each sleep draws the view once. */
async function watch(
  argv: readonly string[],
  settings: Settings = {},
  size: Size = { columns: 80, rows: 24 },
) {
  const screen = testScreen(size.columns, size.rows);
  const { terminal, written } = fakeTerminal(size.columns, size.rows);
  const { write } = terminal;
  const beats = new Set<() => void>();
  const { clock } = on;
  const { io, printed } = memoryIo({
    isTTY: true,
    ...settings,
    env: { ...on.env, NO_COLOR: '1', ...settings.env },
    clock: {
      now: clock.now,
      monotonic: clock.monotonic,
      async sleep(ms, signal) {
        await clock.sleep(ms, signal);
        for (const beat of beats) beat();
      },
    },
  });
  const err: Io['err'] = {
    ...io.err,
    terminal,
    write: (text) => new Promise((resolve) => terminal.write(text, () => resolve())),
  };
  const every: Io['every'] = (_ms, beat) => {
    beats.add(beat);
    queueMicrotask(() => beats.has(beat) && beat());
    return () => void beats.delete(beat);
  };
  const out: Io['out'] = { ...io.out, columns: size.columns, write: (text) => io.out.write(text) };
  const code = await main(argv, { ...io, out, err, every });
  await screen.write(written());
  expect(beats.size).toBe(0);
  expect(terminal.write).toBe(write);
  expect(terminal.listenerCount('resize')).toBe(0);
  return { code, out: printed().out, written: written(), screen } satisfies Watched;
}

it.each([['orders', 'list'], ['orders', 'summary', '--verify'], ['doctor']])(
  'a spinner is shown during %s %s %s and removed at the end',
  async (...argv) => {
    on = await stage();
    const { code, written, screen } = await watch(argv);
    expect(code).toBe(0);
    expect(written).toMatch(/⠋ (\u001b\[\?7l)?waiting for 127\.0\.0\.1:\d+/);
    expect(screen.lines().join('\n')).not.toMatch(/waiting|⠋/);
    expect(written.lastIndexOf('\u001b[?25h')).toBeGreaterThan(written.lastIndexOf('\u001b[?25l'));
  },
);

describe('the live view of a wait', () => {
  it('shows each run, and leaves only the notes', async () => {
    on = await stage({ outcome: ['failed', 'passed'], duration: 25_000 });
    const ids = [(await on.rungate(...trigger)).out.trim(), (await on.rungate(...trigger)).out.trim()];
    const { code, out, written, screen } = await watch(['run', 'wait', ...ids]);
    expect(code).toBe(1);
    for (const id of ids) expect(written).toContain(`• ${id}  in_progress`);
    expect(written).toMatch(/2 of 2 running/);
    expect(screen.lines()[0]).toBe('✗ gate failed (exit 1)');
    expect(screen.lines()[1]).toMatch(/^2 failed: https:/);
    for (const id of ids) expect(out).toContain(id);
  });

  it.each([
    ['TERM=dumb', { env: { TERM: 'dumb' } }, []],
    ['in CI whose jobs have a terminal', { env: { CI: 'true' } }, []],
    ['without a terminal', { isTTY: false }, []],
    ['with --quiet', {}, ['--quiet']],
  ] as const)('does not appear %s', async (_name, settings, flags) => {
    on = await stage({ outcome: 'passed', duration: 25_000 });
    const id = (await on.rungate(...trigger)).out.trim();
    const { code, written } = await watch(['run', 'wait', id, ...flags], settings);
    expect(code).toBe(0);
    expect(written).not.toContain('\u001b');
    if (flags.length === 0) expect(written).toContain(`${id}: in_progress after 0 ms (0 failed, 0 blocked)`);
    else expect(written).toBe('');
    expect((await watch(['orders', 'list', ...flags], settings)).written).not.toMatch(/\u001b|waiting/);
  });

  it('links only to web addresses', async () => {
    const env = { FORCE_HYPERLINK: '1' };
    on = await stage({ outcome: 'passed', duration: 15_000 });
    const id = (await on.rungate(...trigger)).out.trim();
    const linked = await watch(['run', 'wait', id], { env });
    expect(linked.written).toMatch(/\u001b\]8;;https:\/\/[\x21-\x7e]+\u001b\\run_\w+\u001b\]8;;\u001b\\/);
    const appUrl = 'javascript:alert(1)//\u001b\\\u0007';
    on.mock.faults.add({ kind: 'patch', endpoint: 'run.status', merge: { appUrl }, times: 99 });
    const hostile = await watch(['run', 'wait', id], { env });
    expect(hostile.written).not.toContain('\u001b]8');
    expect(hostile.out).not.toContain('\u001b');
  });

  it('does not show a secret that the service sends back', async () => {
    on = await stage({ outcome: 'stuck' });
    const id = (await on.rungate(...trigger)).out.trim();
    const state = `is ${on.mock.apiKey}`;
    on.mock.faults.add({
      kind: 'patch',
      endpoint: 'run.status',
      merge: { state, appUrl: `https://a/${on.mock.apiKey}` },
      times: 99,
    });
    const { written } = await watch(['run', 'wait', id, '--timeout', '1m'], {
      env: { FORCE_HYPERLINK: '1' },
    });
    expect(written).toContain('is ***');
    expect(written).not.toContain(on.mock.apiKey);
  });
});

describe('the live view of several gates', () => {
  const three = {
    api: { process: 'api-smoke' },
    'web-checkout': { tags: ['web'], needs: ['api'], retries: 1 },
    'mobile-checkout': { process: 'mobile', needs: ['web-checkout'] },
  };

  it('has a row for each gate: what it needs, its state, and which retry is going', async () => {
    on = await stage({ outcome: ['passed', 'failed'], duration: 25_000 });
    const { code, written, screen } = await watch(['gate'], inRepository({ project: 'shop', gates: three }));
    expect(code).toBe(1);
    expect(written).toMatch(/l0 of 3 running · 3 waiting · 0:00\r/);
    expect(written).toMatch(/· web-checkout {5}needs api /);
    expect(written).toMatch(/✓ api +passed/);
    expect(written).toMatch(/• web-checkout {5}in_progress/);
    expect(written).not.toMatch(/✗ web-checkout +failed/);
    expect(written).toMatch(/• web-chec…retry 1 {2}in_progress/);
    expect(written).toMatch(/✗ web-chec…retry 1 {2}failed/);
    expect(screen.lines()).toContain('✗ gate failed (exit 1): web-checkout failed; mobile-checkout skipped');
  });
});
