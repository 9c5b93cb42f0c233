import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { type HubStage, hubStage } from '../../cli/hub-stage.ts';

let on: HubStage;
afterEach(() => on.close());

const folder = mkdtempSync(join(tmpdir(), 'rungate-gates-'));
afterAll(() => rmSync(folder, { recursive: true }));

it('twenty gates with needs stay within the documented limits, and take at most 1.2 of the longest path', async () => {
  const duration = 5 * 60_000;
  on = await hubStage({ duration, rateLimit: 'documented' });
  // Five chains of four gates.
  const gates = Object.fromEntries(
    Array.from({ length: 20 }, (_, at) => [
      `g${at}`,
      { process: `p${at}`, needs: at % 4 === 0 ? [] : [`g${at - 1}`] },
    ]),
  );
  const files = { '/repo/.rungate.json': JSON.stringify({ project: 'shop', timeout: '20m', gates }) };
  const running = on.start('none', ['gate', '--json'], { cwd: '/repo', files });
  const { code, out } = await running.end();
  expect(code).toBe(0);
  expect(JSON.parse(out).gates).toHaveLength(20);
  expect(on.mock.requests.filter(({ status }) => status === 429)).toEqual([]);
  // The stage's time passes while the command closes its connections, so the last request is the end.
  const times = on.mock.requests.map(({ at }) => at);
  expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(1.2 * 4 * duration);
});

describe('the turn to create a run', () => {
  interface Scene {
    count: number;
    settings: object;
    outcome?: 'passed' | 'failed';
  }
  const play = async ({ count, settings, outcome = 'passed' }: Scene) => {
    on = await hubStage({ duration: 15_000, rateLimit: 'documented', outcome });
    const all = Array.from({ length: count }, (_, at) => [`g${at}`, { process: `p${at}` }]);
    const file = { project: 'shop', ...settings, gates: Object.fromEntries(all) };
    const files = { '/repo/.rungate.json': JSON.stringify(file) };
    const running = on.start('none', ['gate', '--json'], { cwd: '/repo', files });
    const { code, out, err } = await running.end();
    expect(on.mock.requests.map(({ status }) => status)).not.toContain(429);
    const creates = on.mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger');
    return { code, gates: JSON.parse(out).gates, err, creates: creates.length };
  };

  it('comes too late if the limit allows it only after the timeout: the gate times out and creates no run', async () => {
    const settings = { timeout: '40s', on: { timeout: 'warn' } };
    const { code, gates, creates, err } = await play({ count: 25, settings });
    expect([code, creates]).toEqual([3, 20]);
    const late = gates.filter(({ runs }: { runs: { runId: string | null }[] }) => runs[0]?.runId === null);
    expect(late).toHaveLength(5);
    for (const { runs, exitCode } of late)
      expect([exitCode, runs[0].verdict, runs[0].error.code]).toEqual([3, 'timeout', 'timeout']);
    expect(err).toMatch(
      /was not started: no run was created: the limit of 20 a minute would delay it beyond/,
    );
  });
});
