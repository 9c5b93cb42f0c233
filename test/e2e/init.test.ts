import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { pipelines } from '../../src/ci/pipelines.ts';
import { type Mock, startMock } from '../../src/mock/server.ts';
import { commandIn } from '../docs/command-in.ts';
import { bin, root, start } from './built.ts';
import { inTerminal } from './pty.ts';

let mock: Mock;
let folder: string;
beforeEach(async () => {
  mock = await startMock({ outcome: ['passed', 'failed'], duration: 50, retryAfterSeconds: 0.05 });
  folder = mkdtempSync(join(tmpdir(), 'rungate-init-'));
  execFileSync('git', ['init', '--quiet', folder]);
  // Replaces npx, which takes half a second longer.
  const npx = join(folder, 'bin/npx');
  mkdirSync(dirname(npx));
  writeFileSync(npx, `#!/bin/sh\nshift 2\nexec node '${bin}' "$@"\n`);
  chmodSync(npx, 0o755);
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await mock.close();
});

const run = (file: string, args: readonly string[], env: Record<string, string> = {}) =>
  start(
    file,
    args,
    { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, RUNGATE_CONFIG_DIR: folder, ...env },
    folder,
  ).ended;

it.each(pipelines)(
  'the pipeline that rungate init writes for $title passes and fails with the run',
  async (pipeline) => {
    const flags = ['--project', 'shop', '--process', 'checkout', '--api-url', mock.url];
    const init = await run(process.execPath, [bin, 'init', ...flags, '--ci', pipeline.provider]);
    expect(init.code, init.err).toBe(0);
    const text = readFileSync(join(folder, pipeline.file), 'utf8');
    const script =
      pipeline.provider === 'jenkins' ? /sh '([^']+)'/.exec(text)?.[1] : commandIn(parseYaml(text));
    expect(script).toMatch(/^exec npx --yes rungate@[\d.]+ run trigger --wait --strict/);
    const step = () => run('bash', ['-e', '-c', String(script)], { RUNGATE_API_KEY: mock.apiKey });
    expect((await step()).code).toBe(0);
    expect((await step()).code).toBe(1);
  },
);

it('the pipeline that rungate init writes with --gates passes with both gates, and fails with one', async () => {
  const flags = ['--project', 'shop', '--gates', 'api,web', '--api-url', mock.url, '--ci', 'gitlab'];
  expect((await run(process.execPath, [bin, 'init', ...flags])).code).toBe(0);
  const script = String(commandIn(parseYaml(readFileSync(join(folder, '.gitlab-ci.yml'), 'utf8'))));
  const step = () => run('bash', ['-e', '-c', script], { RUNGATE_API_KEY: mock.apiKey });
  mock.state.plan.outcomes = ['passed'];
  expect((await step()).code).toBe(0);
  mock.state.plan.outcomes = ['passed', 'passed', 'passed', 'failed'];
  expect((await step()).code).toBe(1);
  const processes = [...mock.state.runs.values()].map(({ request }) => request.processSlug);
  expect(processes.toSorted()).toEqual(['api', 'api', 'web', 'web']);
});

it('each package of a monorepo gets a gate that works in the root, with its own process', async () => {
  mock.state.plan.outcomes = ['passed'];
  for (const name of ['web', 'api']) {
    const packageFolder = join(folder, 'packages', name);
    mkdirSync(packageFolder, { recursive: true });
    writeFileSync(join(packageFolder, 'package.json'), '{}');
    const flags = ['--project', 'shop', '--process', name, '--api-url', mock.url, '--ci', 'github'];
    const init = await start(
      process.execPath,
      [bin, 'init', ...flags],
      { RUNGATE_CONFIG_DIR: folder },
      packageFolder,
    ).ended;
    expect(init.code, init.err).toBe(0);
    const text = readFileSync(join(folder, `.github/workflows/rungate-packages-${name}.yml`), 'utf8');
    const script = String(commandIn(parseYaml(text)));
    expect((await run('bash', ['-e', '-c', script], { RUNGATE_API_KEY: mock.apiKey })).code).toBe(0);
  }
  const processes = [...mock.state.runs.values()].map(({ request }) => request.processSlug);
  expect(processes).toEqual(['web', 'api']);
});

/** CIs use both: a shell that stops at the first error, and one in which only the last command counts. */
it.each([['-e'], ['+e']])(
  'a folded command that was made literal (bash %s) fails for a failed run',
  async (mode) => {
    mock.state.plan.outcomes = ['failed'];
    const flags = ['--project', 'shop', '--process', 'checkout', '--api-url', mock.url];
    expect((await run(process.execPath, [bin, 'init', ...flags, '--ci', 'azure'])).code).toBe(0);
    const text = readFileSync(join(folder, 'azure-pipelines.yml'), 'utf8').replace('>-', '|');
    const script = String(commandIn(parseYaml(text)));
    expect(script.trim().split('\n')).toHaveLength(2);
    const step = (lines: string) => run('bash', [mode, '-c', lines], { RUNGATE_API_KEY: mock.apiKey });
    expect((await step(script)).code).toBe(1);
    expect(mock.state.runs.size).toBe(1);
    // Without exec, the shell runs the second line as a command, which fails.
    expect((await step(script.replace('exec ', ''))).code).not.toBe(0);
  },
);

it('reports a folder that cannot be written to as a configuration error', async () => {
  // Root may write to every folder, so this is a file.
  writeFileSync(join(folder, '.github'), '');
  const flags = ['--project', 'shop', '--process', 'checkout', '--ci', 'github'];
  const { code, err } = await run(process.execPath, [bin, 'init', ...flags]);
  expect(code).toBe(78);
  expect(err).toMatch(/cannot write .*rungate\.yml \((ENOTDIR|EEXIST)\); already written: .*\.rungate\.json/);
});

it.each([
  ['in the package itself', true, 'packages/web', 'packages/web'],
  ['in the root, where npm installs shared dependencies', true, '.', 'packages/web'],
  ['in the root, outside a repository', false, '.', 'packages/web'],
  ['above the folder that the file is in', true, '.', 'packages/web/ci'],
])(
  '$schema points to the schema of the rungate that is installed %s',
  async (_where, isRepository, place, own) => {
    if (!isRepository) rmSync(join(folder, '.git'), { recursive: true });
    mkdirSync(join(folder, place, 'node_modules'), { recursive: true });
    mkdirSync(join(folder, own), { recursive: true });
    for (const name of ['.', 'packages/web']) writeFileSync(join(folder, name, 'package.json'), '{}');
    // npm and pnpm link a local package.
    symlinkSync(root, join(folder, place, 'node_modules/rungate'));
    const file = join(folder, own, 'gate.json');
    const flags = ['--project', 'shop', '--process', 'checkout', '--ci', 'none', '--config', file];
    const init = await run(process.execPath, [bin, 'init', ...flags]);
    expect(init.code, init.err).toBe(0);
    const { $schema } = JSON.parse(readFileSync(file, 'utf8'));
    expect($schema).toMatch(/^\.\.?\//);
    expect(JSON.parse(readFileSync(join(dirname(file), $schema), 'utf8')).title).toBe('.rungate.json');
  },
);

it('writes no $schema if rungate is not installed', async () => {
  const flags = ['--project', 'shop', '--process', 'checkout', '--ci', 'none'];
  expect((await run(process.execPath, [bin, 'init', ...flags])).code).toBe(0);
  const written = JSON.parse(readFileSync(join(folder, '.rungate.json'), 'utf8'));
  expect(written).toEqual({ project: 'shop', process: 'checkout' });
});

it.each([
  ['Ctrl-D', '\u0004', 1, /nothing was written/],
  ['N', 'n\r', 1, /nothing was written/],
  ['Ctrl-C', '\u0003', 130, /stopped by SIGINT/],
])('%s at the last question writes nothing', async (_key, typed, code, message) => {
  const terminal = inTerminal(['init', '--project', 'shop', '--ci', 'github'], {}, { cwd: folder });
  for (const [question, answer] of [
    [/Process slug/, 'checkout\r'],
    [/Environment key/, '\r'],
    [/URL of the service/, '\r'],
    [/merge queue/, '\r'],
    [/\[Y\/n\]/, typed],
  ] as const) {
    await terminal.shows(question);
    terminal.pty.write(answer);
  }
  expect(await terminal.ended).toBe(code);
  expect(terminal.screen.lines().join('\n')).toMatch(message);
  expect(existsSync(join(folder, '.rungate.json'))).toBe(false);
});
