import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startMock } from '../../src/mock/server.ts';
import { folderForTest } from '../folders.ts';
import { rungate } from './built.ts';

it('the built gate creates its run after the roll-out, and warns about a header file that others can read', async () => {
  const mock = await startMock({ duration: 300, retryAfterSeconds: 0.2, deployed: 'v1' });
  const folder = folderForTest();
  onTestFinished(() => mock.close());
  const headers = join(folder, 'headers');
  writeFileSync(headers, 'Authorization: Bearer page-secret-1\n');
  chmodSync(headers, 0o640);
  const page = ['--deployed-url', `${mock.url}/_mock/version`, '--deployed-is', 'v2'];
  const gate = ['run', 'trigger', '--project', 'shop', '--process', 'checkout', '--wait', '--json'];
  const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
  const running = rungate([...gate, ...page, '--deployed-header-file', headers], env);
  await running.shows(/the deployed build is "v1"/);
  const created = () => mock.requests.filter(({ endpoint }) => endpoint === 'run.trigger').length;
  expect(created()).toBe(0);
  mock.deploy('v2');
  const { code, out, err } = await running.ended;
  expect([code, created()]).toEqual([0, 1]);
  expect(JSON.parse(out).deployed).toMatchObject({ matches: true });
  if (process.platform !== 'win32') expect(err).toContain(`run chmod 600 ${headers}`);
  expect(mock.requests[0]?.headers.authorization).toBe('Bearer page-secret-1');
});
