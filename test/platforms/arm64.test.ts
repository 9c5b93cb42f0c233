import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type MockOptions, startMock } from '../../src/mock/server.ts';
import { version } from '../../src/version.ts';
import { rungate as onHost, start } from '../e2e/built.ts';
import { buildExecutable, executableOf } from '../executable.ts';

const emulator = 'qemu-aarch64-static';
const libraries = '/usr/aarch64-linux-gnu';
const isMissing =
  spawnSync(emulator, ['--version']).status !== 0 || !existsSync(`${libraries}/lib/libstdc++.so.6`);
const isSkipped = isMissing && !process.env.REQUIRE_TOOLS;
const packages = 'qemu-user-static, libc6-arm64-cross and libstdc++6-arm64-cross';

const executable = executableOf('linux-arm64');
const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--config', 'none'];

const rungate = (args: readonly string[], env: Record<string, string> = {}) =>
  start(emulator, ['-L', libraries, executable, ...args], env);

/** Runs a gate against a mock in this process. */
async function gateOn(options: MockOptions) {
  const mock = await startMock({ duration: 1, retryAfterSeconds: 0.1, ...options });
  try {
    const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
    return { ...(await rungate(gate, env).ended), runs: mock.state.runs.size };
  } finally {
    await mock.close();
  }
}

beforeAll(() => {
  if (!isSkipped) buildExecutable('linux-arm64');
});
beforeEach(({ skip }) => skip(isSkipped, `install Debian’s packages ${packages}`));

/** There is no `mock exec`: an emulated program starts others only where the kernel knows the emulator. */
describe.concurrent('the executable for linux-arm64 in QEMU', () => {
  it('contains no compiled code, since it was built on another processor', ({ skip }) => {
    skip(process.arch === 'arm64');
    const sized = (size: number) => Buffer.from(new BigUint64Array([BigInt(size)]).buffer);
    // An asset is the size of its name, its name, and the same of its content.
    const name = 'code-cache';
    const empty = Buffer.concat([sized(name.length), Buffer.from(name), sized(0)]);
    expect(readFileSync(executable).includes(empty)).toBe(true);
  });

  it('says which Node it contains', async () => {
    expect(await rungate(['--version']).ended).toMatchObject({
      code: 0,
      out: expect.stringMatching(new RegExp(`^${version} \\(binary, Node 24\\.\\d+\\.\\d+\\)\\n$`)),
      err: '',
    });
  });

  it('shows its help', async () => {
    const { code, out } = await rungate(['help']).ended;
    expect([code, out]).toEqual([0, expect.stringMatching(/^Usage: rungate .*^ {2}gate /ms)]);
  });

  it('passes the gate for a run that passed', async () => {
    const { code, out, runs } = await gateOn({ outcome: 'passed' });
    expect([code, out, runs]).toEqual([0, expect.stringMatching(/\tpassed\tcompleted\t0\t0\t/), 1]);
  });

  it('fails the gate for a run that failed', async () => {
    const { code, err, runs } = await gateOn({ outcome: 'failed' });
    expect([code, err, runs]).toEqual([1, expect.stringContaining('gate failed (exit 1)'), 1]);
  });

  it('serves a mock for a gate of this machine, and ends with SIGTERM', async ({ onTestFinished }) => {
    const serving = rungate(['mock', 'serve', '--port', '0', '--outcome', 'failed', '--duration', '1ms']);
    onTestFinished(() => void serving.child.kill('SIGKILL'));
    const [printed] = await serving.shows(/(?:export .*\n){3}/);
    const env = Object.fromEntries(
      [...printed.matchAll(/export (\w+)=(.*)\n/g)].map(([, name, value]) => [name, value]),
    );
    const { code, err } = await onHost(gate, env).ended;
    expect([code, err]).toEqual([1, expect.stringContaining('gate failed (exit 1)')]);
    serving.child.kill('SIGTERM');
    expect(await serving.ended).toMatchObject({ code: 143 });
  });
});
