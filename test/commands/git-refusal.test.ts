import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { capture } from '../../src/host/children.ts';
import { type Settings, type Stage, stage } from '../cli/harness.ts';

let on: Stage;
let folder: string;
beforeEach(async () => {
  on = await stage();
  folder = mkdtempSync(join(tmpdir(), 'rungate-git-'));
  execFileSync('git', ['init', '--quiet', folder]);
  vi.stubEnv('GIT_CONFIG_NOSYSTEM', '1');
  vi.stubEnv('GIT_CONFIG_GLOBAL', '/dev/null');
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await on.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs a command in the repository with the real git. */
const run = (argv: readonly string[], settings: Settings = {}) => {
  const captured: Settings['captured'] = ([git = '', ...args], onFailure) =>
    capture([git, '-C', folder, ...args], onFailure, 600_000);
  return on.with({ cwd: folder, files: { [`${folder}/.git`]: '' }, captured, ...settings })(...argv);
};
/** As if another user owned the repository. */
const refuse = () => vi.stubEnv('GIT_TEST_ASSUME_DIFFERENT_OWNER', '1');
const checkout = ['--project', 'shop', '--process', 'checkout'];
const problem = 'git does not read this repository, because another user owns it: the commit is unknown';
const remedy = () => `run git config --global --add safe.directory ${folder}`;

it.each([
  ['gate', ['gate', ...checkout]],
  ['run trigger', ['run', 'trigger', ...checkout, '--no-wait']],
])('%s warns if git does not read the repository of another user', async (_, argv) => {
  refuse();
  const { code, err } = await run(argv);
  expect(code).toBe(0);
  expect(err).toContain(`warning: ${problem}\n  → ${remedy()}\n`);
});

it('doctor names it, too', async () => {
  refuse();
  const { code, out } = await run(['doctor']);
  expect(code).toBe(0);
  expect(out).toContain(`! git: ${problem}\n    → ${remedy()}\n`);
});

it.each<[string, readonly string[], () => void]>([
  ['the commit is given', ['--commit-sha', 'abc1234'], refuse],
  ['the repository has no commit yet', [], () => {}],
])('no warning is printed if %s', async (_, flags, prepare) => {
  prepare();
  expect((await run(['gate', ...checkout, ...flags])).err).not.toContain('warning');
});
