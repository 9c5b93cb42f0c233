import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { folderWithSpace, installPackage, node, start } from './windows.ts';

const folder = folderWithSpace();
const module = join(folder, 'node_modules/rungate');

beforeAll(() => installPackage(module));

async function run(source: string) {
  writeFileSync(join(folder, 'use.mjs'), source);
  return start(node, ['use.mjs'], { cwd: folder });
}

it('gate() and startMock() of the installed package gate a run', async () => {
  const { out, err } = await run(`
    import { gate, startMock } from 'rungate';
    const mock = await startMock({ outcome: 'blocked', duration: 100, retryAfterSeconds: 0.05 });
    const trigger = { projectSlug: 'shop', tags: ['smoke'] };
    const result = await gate({ apiUrl: mock.url, apiKey: mock.apiKey, trigger, timeoutMs: 60_000 });
    console.log(JSON.stringify({ exitCode: result.exitCode, verdict: result.runs[0].verdict, runs: mock.runs.length }));
    await mock.close();
  `);
  expect(err).toBe('');
  expect(JSON.parse(out)).toEqual({ exitCode: 2, verdict: 'blocked', runs: 1 });
});

it('the command works from a folder with a space and a letter beyond ASCII', async () => {
  const { code, out } = await start(node, ['node_modules\\rungate\\bin\\rungate.js', '--version'], {
    cwd: folder,
  });
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^\d+\.\d+\.\d+\S*\n$/) });
});
