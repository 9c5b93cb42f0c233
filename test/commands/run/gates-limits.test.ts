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
