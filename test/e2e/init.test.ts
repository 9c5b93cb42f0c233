import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { pipelines } from '../../src/ci/pipelines.ts';
import { type Mock, startMock } from '../../src/mock/server.ts';
import { bin, start } from './built.ts';

vi.setConfig({ testTimeout: 60_000 });

let mock: Mock;
let folder: string;
beforeEach(async () => {
  mock = await startMock({ outcome: ['passed', 'failed'], duration: 50, retryAfterSeconds: 0.05 });
  folder = mkdtempSync(join(tmpdir(), 'rungate-init-'));
  execFileSync('git', ['init', '--quiet', folder]);
  // What npx would run, without the half second that it takes.
  const npx = join(folder, 'bin/npx');
  mkdirSync(dirname(npx));
  writeFileSync(npx, `#!/bin/sh\nshift 2\nexec node '${bin}' "$@"\n`);
  chmodSync(npx, 0o755);
});
afterEach(async () => {
  rmSync(folder, { recursive: true, force: true });
  await mock.close();
});

/** The shell text of the gate, wherever in a pipeline it stands. */
function scriptIn(node: unknown): string | null {
  if (typeof node === 'string') return node.includes('exec npx') ? node : null;
  if (typeof node !== 'object' || node === null) return null;
  return Object.values(node).reduce<string | null>((found, inner) => found ?? scriptIn(inner), null);
}

const run = (file: string, args: readonly string[], env: Record<string, string> = {}) =>
  start(
    file,
    args,
    { PATH: `${join(folder, 'bin')}:${process.env.PATH}`, RUNGATE_CONFIG_DIR: folder, ...env },
    folder,
  ).ended;

it.each(pipelines)(
  'a repository set up for $title by rungate init is gated: green, then red',
  async (pipeline) => {
    const flags = ['--project', 'shop', '--process', 'checkout', '--api-url', mock.url];
    const made = await run(process.execPath, [bin, 'init', ...flags, '--ci', pipeline.provider]);
    expect(made.code, made.err).toBe(0);
    const text = readFileSync(join(folder, pipeline.file), 'utf8');
    const script =
      pipeline.provider === 'jenkins' ? /sh '([^']+)'/.exec(text)?.[1] : scriptIn(parseYaml(text));
    expect(script).toMatch(/^exec npx --yes rungate run trigger --wait --strict/);
    const step = () => run('bash', ['-e', '-c', String(script)], { RUNGATE_API_KEY: mock.apiKey });
    expect((await step()).code).toBe(0);
    expect((await step()).code).toBe(1);
  },
);

it('a folder that cannot be written to is a configuration error that names it', async () => {
  // As root every folder can be written to, but what is no folder cannot.
  writeFileSync(join(folder, '.github'), '');
  const flags = ['--project', 'shop', '--process', 'checkout', '--ci', 'github'];
  const { code, err } = await run(process.execPath, [bin, 'init', ...flags]);
  expect(code).toBe(78);
  expect(err).toMatch(
    /rungate\.yml cannot be written \((ENOTDIR|EEXIST)\); written before: .*\.rungate\.json/,
  );
});
