import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { expect, it } from 'vitest';
import { startMock } from '../../src/mock/server.ts';
import { bin, type Running, start } from '../e2e/built.ts';
import { agentLoop, type Called } from '../slice/agent-loop.ts';
import { until } from '../until.ts';

/** Holds a gate whose run takes 195 s in real time. `kill` may kill the process of a call. */
async function hold(
  outcome: 'passed' | 'failed',
  kill?: (call: number, running: Running, reads: () => number) => unknown,
) {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-slices-'));
  symlinkSync(bin, join(folder, 'rungate'));
  // 15 s after the end of the fourth slice, so that starting the processes on a busy machine does not change their number.
  const mock = await startMock({ outcome, duration: 195_000 });
  const env = {
    RUNGATE_API_URL: mock.url,
    RUNGATE_API_KEY: mock.apiKey,
    RUNGATE_CONFIG_DIR: folder,
    // Under npx, it would name itself npx rungate.
    npm_command: '',
    PATH: `${folder}${delimiter}${process.env.PATH}`,
  };
  const codes: (number | null)[] = [];
  const call = async ([program = '', ...args]: readonly string[]): Promise<Called> => {
    const running = start(program, args, env, folder);
    const before = mock.requests.length;
    kill?.(codes.length + 1, running, () => mock.requests.length - before);
    const { code, out } = await running.ended;
    codes.push(code);
    return { code, out };
  };
  try {
    const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--slice', '45s', '--json'];
    const { code, out } = await agentLoop(['rungate', ...gate], call);
    const [run] = JSON.parse(out).runs;
    return { code, verdict: run.verdict, runs: mock.state.runs.size, codes };
  } finally {
    await mock.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

it.concurrent('a run of 195 s fails the gate after four slices', async () => {
  const { codes, ...held } = await hold('failed');
  expect(held).toEqual({ code: 1, verdict: 'failed', runs: 1 });
  expect(codes).toEqual([75, 75, 75, 75, 1]);
});

it.concurrent('a run of 195 s passes the gate although SIGKILL ends a slice in the middle', async () => {
  const { codes, ...held } = await hold('passed', async (call, { child }, reads) => {
    if (call !== 2) return;
    await until(() => reads() >= 2);
    child.kill('SIGKILL');
  });
  expect(held).toEqual({ code: 0, verdict: 'passed', runs: 1 });
  expect(codes.slice(0, 2)).toEqual([75, null]);
  expect(codes.slice(2, -1).every((code) => code === 75)).toBe(true);
  expect(codes.length).toBeLessThanOrEqual(6);
});
