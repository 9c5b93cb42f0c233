import { afterEach, expect, it } from 'vitest';
import { type HubStage, hubStage } from '../../cli/hub-stage.ts';

let on: HubStage;
afterEach(() => on.close());

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
  const running = on.start('none', ['run', 'gates', '--json'], { cwd: '/repo', files });
  const { code, out } = await running.end();
  expect(code).toBe(0);
  expect(JSON.parse(out).gates).toHaveLength(20);
  expect(on.mock.requests.filter(({ status }) => status === 429)).toEqual([]);
  // The stage's time passes while the command closes its connections, so the last request is the end.
  const times = on.mock.requests.map(({ at }) => at);
  expect(Math.max(...times) - Math.min(...times)).toBeLessThanOrEqual(1.2 * 4 * duration);
}, 60_000);

it('the live view shows when a read is sent that waits for the limit of all gates', async () => {
  on = await hubStage({ outcome: 'stuck', retryAfterSeconds: 1 });
  const gates = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [name, { process: name }]));
  const files = { '/repo/.rungate.json': JSON.stringify({ project: 'shop', timeout: '70s', gates }) };
  const settings = { cwd: '/repo', files, isTTY: true, env: { NO_COLOR: '1' } };
  const { code, err } = await on.start('none', ['run', 'gates'], settings).end();
  expect(code).toBe(3);
  expect(err).toMatch(/• a .* in_progress +0 +0 +15 +0:2\d +[34]\d s /);
  expect(err).not.toMatch(/• a .* in_progress .* 0:[2-5]\d +now /);
});
