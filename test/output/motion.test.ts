import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { Io } from '../../src/host/io.ts';
import { memoryIo, type Settings, type Stage, stage } from '../cli/harness.ts';
import { main } from '../cli/main.ts';
import { fakeTerminal } from '../fake-terminal.ts';
import { testScreen } from '../screen.ts';

// Load it first: otherwise the command may end before it is loaded.
beforeAll(() => import('../../src/output/live/spinner.ts'));

let on: Stage;
afterEach(() => on.close());

/** Runs a command on a terminal in memory, with a spinner that appears without delay. */
async function run(argv: readonly string[], settings: Settings = {}, columns = 80) {
  const { terminal, written } = fakeTerminal(columns, 24);
  const { io, printed } = memoryIo({
    isTTY: true,
    clock: on.clock,
    ...settings,
    env: { ...on.env, NO_COLOR: '1', ...settings.env },
  });
  const err: Io['err'] = {
    ...io.err,
    terminal,
    write: (text) => new Promise((resolve) => terminal.write(text, () => resolve())),
  };
  const every: Io['every'] = (_ms, beat) => {
    let isStopped = false;
    queueMicrotask(() => isStopped || beat());
    return () => {
      isStopped = true;
    };
  };
  const code = await main(argv, { ...io, err, every });
  const screen = testScreen(columns, 24);
  await screen.write(written());
  return { code, out: printed().out, written: written(), left: screen.lines() };
}

const orders = [['orders', 'list'], ['orders', 'summary'], ['orders', 'summary', '--verify'], ['doctor']];

describe('the spinner', () => {
  it.each(orders)('is shown during %s %s %s and removed at the end', async (...argv) => {
    on = await stage();
    const { code, written, left } = await run(argv);
    expect(code).toBe(0);
    expect(written).toMatch(/⠋ (\u001b\[\?7l)?waiting for 127\.0\.0\.1:\d+/);
    expect(left.join('\n')).not.toMatch(/waiting|⠋/);
    expect(written.lastIndexOf('\u001b[?25h')).toBeGreaterThan(written.lastIndexOf('\u001b[?25l'));
  });

  it.each([
    ['with --quiet', {}, ['--quiet']],
    ['in CI, even on a terminal', { env: { CI: 'true' } }, []],
    ['if TERM is dumb', { env: { TERM: 'dumb' } }, []],
    ['if standard error is not a terminal', { isTTY: false }, []],
  ] as const)('is not shown %s', async (_where, settings, flags) => {
    on = await stage();
    const { code, written } = await run(['orders', 'list', ...flags], settings);
    expect(code).toBe(0);
    expect(written).not.toMatch(/\u001b|waiting/);
  });
});
