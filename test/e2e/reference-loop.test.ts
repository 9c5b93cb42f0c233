import { spawnSync } from 'node:child_process';
import { afterEach, describe, expect, it } from 'vitest';
import { type MockServer, type Outcome, startMock } from '../../src/mock/server.ts';
import { root, rungate, start } from './built.ts';

const curl = spawnSync('curl', ['--version']).status === 0;
let mock: MockServer;
afterEach(() => mock?.close());

/** An outcome, the exit code of the loop, and that of `run wait`. */
const rows: [Outcome, number, number][] = [
  ['passed', 0, 0],
  ['failed', 1, 1],
  ['blocked', 1, 2],
  ['cancelled', 0, 0],
  ['stuck', 3, 3],
];

describe.skipIf(!curl)('the polling loop of the API in a shell script (skipped without curl)', () => {
  it.each(rows)('agrees with run wait: %s', async (outcome, loopCode, waitCode) => {
    mock = await startMock({ outcome, duration: 300, retryAfterSeconds: 0.1 });
    const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey };
    const flags = ['run', 'trigger', '--project', 'a', '--process', 'b'];
    const id = (await rungate(flags, env).ended).out.trim();
    const script = `${root}/fixtures/reference-loop.sh`;
    const [loop, wait] = await Promise.all([
      start('sh', [script, id], { ...env, INTERVAL: '0.1', ATTEMPTS: '8' }).ended,
      rungate(['run', 'wait', id, '--max-attempts', '8', '--json'], env).ended,
    ]);
    expect([loop.code, wait.code]).toEqual([loopCode, waitCode]);
    const { result } = JSON.parse(wait.out);
    expect(result === 'fail').toBe(loop.code !== 0);
  });
});
