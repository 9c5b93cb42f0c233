import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Fault } from '../../src/mock/faults/faults.ts';
import { itemSeed, seededRandom } from '../../src/mock/random.ts';
import { type Outcome, outcomes } from '../../src/mock/runs.ts';
import { startMock } from '../../src/mock/server.ts';
import { bin, start } from '../e2e/built.ts';
import { allFaults, createRun, play, timeOutStalledRequests } from '../reliability/scene.ts';
import { until } from '../until.ts';

timeOutStalledRequests();

/** The seed of the random tests, which their names contain. Set RELIABILITY_SEED to reproduce a failure. */
const seed = Number(process.env.RELIABILITY_SEED ?? Math.floor(Math.random() * 2 ** 31));

type Draw = ReturnType<typeof drawFrom>;

function drawFrom(seedValue: number) {
  const random = seededRandom(seedValue);
  const below = (end: number) => Math.floor(random() * end);
  const one = <T>(list: readonly T[]): T => list[below(list.length)] as T;
  return { random, below, one };
}

/** Returns one to three random faults, each with its own start and persistence. */
function drawFaults({ below, one }: Draw): Fault[] {
  return Array.from({ length: 1 + below(3) }, () => {
    const [, fault] = one(allFaults);
    const chance = one([1, 1, 0.5, 0.2]);
    const times = one([1, 1, 2, 5, Number.POSITIVE_INFINITY]);
    return { ...fault, endpoint: 'run.status', skip: below(4), times, chance } as Fault;
  });
}

/** The exit code for each outcome of a run. */
const exitCodeFor: Readonly<Record<Outcome, number>> = {
  passed: 0,
  failed: 1,
  blocked: 2,
  cancelled: 4,
  stuck: 3,
};
/** The exit codes for an unknown outcome. */
const unknownCodes: readonly number[] = [3, 5, 6, 7];

const unhandled: unknown[] = [];
const onUnhandled = (reason: unknown) => void unhandled.push(reason);
beforeAll(() => void process.on('unhandledRejection', onUnhandled));
afterAll(() => void process.off('unhandledRejection', onUnhandled));

describe('a thousand waits with random faults', () => {
  const timeoutMs = 10 * 60_000;

  async function waitOnce(number: number): Promise<number> {
    const draw = drawFrom(itemSeed(seed, number));
    const outcome = draw.one(outcomes);
    const faults = drawFaults(draw);
    const duration = draw.below(60_000);
    const what = `RELIABILITY_SEED=${seed}, wait ${number}: ${outcome} ${JSON.stringify(faults)}`;
    const format = draw.one([['--json'], ['--verbose'], []]);
    const argv = (runId: string) => [
      'run',
      'wait',
      runId,
      '--strict',
      '--timeout',
      '10m',
      '--max-attempts',
      '30',
      ...format,
    ];
    const played = play(argv, faults, {
      endpoint: 'run.status',
      options: { outcome, duration, seed: number },
    });
    let timer: NodeJS.Timeout | undefined;
    const hang = new Promise<never>((_, reject) => {
      timer = setTimeout(() => reject(new Error(`hangs: ${what}`)), 20 * 60_000);
    });
    const { code, out, err, secrets, elapsedMs } = await Promise.race([played, hang]).finally(() =>
      clearTimeout(timer),
    );
    expect([exitCodeFor[outcome], ...unknownCodes], `${what}\n${err}`).toContain(code);
    if (code === 0) expect(outcome, what).toBe('passed');
    // The mock does not wait, so this is the time for which the command waited.
    expect(elapsedMs, what).toBeLessThanOrEqual(timeoutMs);
    for (const secret of secrets) expect(out + err, what).not.toContain(secret);
    return code;
  }

  it(`never pass a failed run, hang or leak a secret (RELIABILITY_SEED=${seed})`, async () => {
    const codes = new Map<number, number>();
    let next = 0;
    const worker = async () => {
      while (next < 1000) {
        const code = await waitOnce(next++);
        codes.set(code, (codes.get(code) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: 8 }, worker));
    console.log(`1000 waits, seed ${seed}:`, Object.fromEntries(codes));
    expect([...codes.keys()]).toContain(0);
    expect(unhandled).toEqual([]);
  });
});

describe('real processes', () => {
  it(`wait with random faults (RELIABILITY_SEED=${seed})`, async () => {
    const one = async (number: number) => {
      const draw = drawFrom(itemSeed(seed, 10_000 + number));
      const outcome = draw.one(['passed', 'failed', 'blocked', 'cancelled'] as const);
      const faults = drawFaults(draw);
      const mock = await startMock({ outcome, duration: 500, retryAfterSeconds: 0.2 });
      const what = `RELIABILITY_SEED=${seed}, process ${number}: ${outcome} ${JSON.stringify(faults)}`;
      try {
        const runId = await createRun(mock);
        for (const fault of faults) mock.faults.add(fault);
        const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
        const limits = ['--timeout', '10s', '--request-timeout', '1s', '--interval', '200ms', '--strict'];
        const running = start(process.execPath, [bin, 'run', 'wait', runId, ...limits, '--verbose'], env);
        const ended = await running.ended;
        expect([exitCodeFor[outcome], ...unknownCodes], `${what}\n${ended.err}`).toContain(ended.code);
        expect(ended.out + ended.err, what).not.toMatch(/Unhandled|at .*\.js:\d+/);
        for (const secret of [mock.apiKey, mock.token])
          expect(ended.out + ended.err, what).not.toContain(secret);
      } finally {
        await mock.close();
      }
    };
    for (let number = 1; number <= 24; number += 4) {
      await Promise.all([0, 1, 2, 3].map((i) => one(number + i)));
    }
  });
});

describe('kill -9 at any point of run trigger --wait', () => {
  const points = 16;
  const trigger = [
    'run',
    'trigger',
    '--project',
    'shop',
    '--process',
    'checkout',
    '--wait',
    '--json',
  ] as const;

  async function killedAt(point: number): Promise<{ runsAtKill: number }> {
    const draw = drawFrom(itemSeed(seed, 20_000 + point));
    const folder = mkdtempSync(join(tmpdir(), 'rungate-kill-'));
    const mock = await startMock({ outcome: 'passed', duration: 3_600_000, retryAfterSeconds: 0.1 });
    const env = {
      RUNGATE_API_URL: mock.url,
      RUNGATE_API_KEY: mock.apiKey,
      GITHUB_ACTIONS: 'true',
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_RUN_ID: String(point),
      GITHUB_RUN_ATTEMPT: '1',
      GITHUB_JOB: 'e2e',
      GITHUB_ACTION: '__run',
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_SHA: 'a'.repeat(40),
      GITHUB_REF: 'refs/heads/main',
      GITHUB_REF_NAME: 'main',
      GITHUB_EVENT_NAME: 'push',
      RUNNER_TEMP: folder,
      GITHUB_STEP_SUMMARY: '',
      GITHUB_OUTPUT: '',
    };
    const keyOption = point % 3 === 0 ? ['--idempotency-key', `key-${point}`] : [];
    const args = [bin, ...trigger, ...keyOption];
    const what = `RELIABILITY_SEED=${seed}, point ${point}`;
    try {
      // Every fourth process is killed while it creates its run: the service has created the run, but its response hangs.
      const inFlight = point % 4 === 1;
      if (inFlight) mock.faults.add({ kind: 'stall-body', endpoint: 'run.trigger' });
      const first = start(process.execPath, args, env);
      if (inFlight) await until(() => mock.state.runs.size > 0);
      await new Promise((resolve) =>
        setTimeout(resolve, point === 0 ? 0 : draw.below(draw.one(inFlight ? [200] : [400, 800, 1500]))),
      );
      first.child.kill('SIGKILL');
      await first.ended;
      const runsAtKill = mock.state.runs.size;
      const reads = () => mock.requests.filter(({ endpoint }) => endpoint === 'run.status').length;
      const before = reads();
      const attached = start(process.execPath, args, env);
      await until(() => reads() > before);
      for (const run of mock.state.runs.values())
        run.durationMs = mock.state.clock.monotonic() - run.startedAt;
      const second = await attached.ended;
      expect(second.code, `${what}\n${second.err}`).toBe(0);
      expect(mock.state.runs.size, `${what}\n${second.err}`).toBe(1);
      const [report] = JSON.parse(second.out).runs;
      expect(report.runId, what).toBe([...mock.state.runs.keys()][0]);
      expect(second.out + second.err, what).not.toContain(mock.apiKey);
      // The second process must be able to read the journal.
      expect(second.err, what).not.toContain('could not be read');
      return { runsAtKill };
    } finally {
      await mock.close();
      rmSync(folder, { recursive: true, force: true });
    }
  }

  it(`and a second start create only one run (RELIABILITY_SEED=${seed})`, async () => {
    const seen: number[] = [];
    for (let point = 0; point < points; point += 2) {
      const pair = await Promise.all([killedAt(point), killedAt(point + 1)]);
      seen.push(...pair.map(({ runsAtKill }) => runsAtKill));
    }
    console.log(
      `kill -9, seed ${seed}: ${seen.filter((runs) => runs === 0).length} before the run, ${seen.filter((runs) => runs === 1).length} after`,
    );
    expect(seen).toContain(0);
    expect(seen).toContain(1);
  });
});
