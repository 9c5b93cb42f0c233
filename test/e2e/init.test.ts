import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { commandIn } from '../docs/command-in.ts';
import { folderForTest } from '../folders.ts';
import { program, shellProgram, start } from './built.ts';
import { inTerminal } from './pty.ts';

let mock: MockServer;
let folder: string;
beforeEach(async () => {
  mock = await startMock({ outcome: ['passed', 'failed'], duration: 50, retryAfterSeconds: 0.05 });
  folder = folderForTest();
  execFileSync('git', ['init', '--quiet', folder]);
  // Replaces npx, which takes half a second longer.
  const npx = join(folder, 'bin/npx');
  mkdirSync(dirname(npx));
  writeFileSync(npx, `#!/bin/sh\nshift 2\nexec ${shellProgram} "$@"\n`);
  chmodSync(npx, 0o755);
});
afterEach(() => mock.close());

const run = (file: string, args: readonly string[], env: Record<string, string> = {}) =>
  start(
    file,
    args,
    { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, RUNGATE_CONFIG_DIR: folder, ...env },
    folder,
  ).ended;

const flags = ['--project', 'shop', '--process', 'checkout'];

it('the pipeline that rungate init writes passes and fails with the run', async () => {
  const init = [...program.slice(1), 'init', ...flags, '--api-url', mock.url, '--ci', 'azure'];
  expect((await run(program[0], init)).code).toBe(0);
  const text = readFileSync(join(folder, 'azure-pipelines.yml'), 'utf8');
  const command = String(commandIn(parseYaml(text)));
  const step = () => run('bash', ['-e', '-c', command], { RUNGATE_API_KEY: mock.apiKey });
  expect([(await step()).code, (await step()).code]).toEqual([0, 1]);
});

it.each([
  ['Ctrl-D', '\u0004', 1, /nothing was written/],
  ['Ctrl-C', '\u0003', 130, /stopped by SIGINT/],
])('%s at a question writes nothing', async (_key, typed, code, message) => {
  const terminal = inTerminal(['init', '--project', 'shop', '--ci', 'github'], {}, { cwd: folder });
  await terminal.shows(/Process slug/);
  terminal.pty.write('checkout\r');
  await terminal.shows(/Environment key/);
  terminal.pty.write(typed);
  expect(await terminal.ended).toBe(code);
  expect(terminal.screen.lines().join('\n')).toMatch(message);
  expect(existsSync(join(folder, '.rungate.json'))).toBe(false);
});
