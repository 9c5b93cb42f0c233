import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Mock, startMock } from '../../src/mock/server.ts';
import { until } from '../until.ts';
import { rungate } from './built.ts';

let mock: Mock;
let folder: string;
beforeEach(async () => {
  mock = await startMock({ duration: 1500, retryAfterSeconds: 0.2, deployed: 'v1' });
  folder = mkdtempSync(join(tmpdir(), 'rungate-deployed-'));
});
afterEach(async () => {
  await mock.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = (...flags: string[]) => {
  const page = ['--deployed-url', `${mock.url}/_mock/version`, '--deployed-is', 'v2'];
  const gate = ['run', 'trigger', '--project', 'shop', '--process', 'checkout', '--wait', '--json'];
  return rungate([...gate, ...page, ...flags], { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey });
};
const creates = () => mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger').length;

it('the built gate creates its run after the roll-out, and passes', async () => {
  const running = start();
  await running.shows(/the deployed build is "v1"/);
  expect(creates()).toBe(0);
  mock.deploy('v2');
  const { code, out } = await running.ended;
  expect([code, creates()]).toEqual([0, 1]);
  expect(JSON.parse(out).deployed).toMatchObject({
    matches: true,
    observations: [{ text: 'v1' }, { text: 'v2' }, { text: 'v2' }],
  });
});

it('the built gate fails with 8 if the build changes during the run and changes back', async () => {
  mock.deploy('v2');
  const running = start();
  await until(() => creates() === 1);
  mock.deploy('v1');
  await running.shows(/warning: the deployed build is "v1", not the expected one/);
  mock.deploy('v2');
  const { code, out } = await running.ended;
  expect([code, creates()]).toEqual([8, 1]);
  expect(JSON.parse(out)).toMatchObject({ runs: [{ verdict: 'mismatch', state: 'completed', failed: 0 }] });
});

it('the built gate creates nothing if the build does not appear in time', async () => {
  const { code, out } = await start('--deployed-timeout', '2s').ended;
  expect([code, creates()]).toEqual([8, 0]);
  expect(JSON.parse(out).runs).toMatchObject([{ runId: null, verdict: 'mismatch' }]);
});

it('SIGTERM ends the wait for the roll-out, and nothing was created', async () => {
  const running = start();
  await running.shows(/the deployed build is "v1"/);
  running.child.kill('SIGTERM');
  const { code, out } = await running.ended;
  expect([code, creates()]).toEqual([143, 0]);
  expect(JSON.parse(out)).toMatchObject({ interruptedBy: 'SIGTERM', runs: [] });
});

it.runIf(process.platform !== 'win32')('warns about a header file that other users can read', async () => {
  mock.deploy('v2');
  const [own, shared] = [join(folder, 'own'), join(folder, 'shared')];
  for (const file of [own, shared]) {
    writeFileSync(file, 'Authorization: Bearer page-secret-1\n', { mode: 0o600 });
  }
  chmodSync(shared, 0o640);
  const gates = [own, shared].map((file) => start('--deployed-header-file', file).ended);
  const [silent, warned] = await Promise.all(gates);
  expect([silent?.code, warned?.code]).toEqual([0, 0]);
  expect(silent?.err).not.toContain('chmod');
  expect(warned?.err).toContain(`run chmod 600 ${shared}`);
  expect(mock.requests[0]?.headers.authorization).toBe('Bearer page-secret-1');
});
