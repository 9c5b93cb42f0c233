import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Mock, startMock } from '../../src/mock/server.ts';
import { root, rungate } from './built.ts';

let mock: Mock;
beforeEach(async () => {
  mock = await startMock({ duration: 0 });
});
afterEach(() => mock.close());

interface Metafile {
  outputs: Record<string, { inputs: Record<string, unknown> }>;
}

interface Loaded {
  /** Built files. */
  files: readonly string[];
  /** The sources and the packages behind them, a line each. */
  list: string;
}

async function loaded(args: readonly string[]): Promise<Loaded> {
  const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, NODE_DEBUG: 'esm' };
  const { err, code } = await rungate(args, env).ended;
  expect(code).toBe(0);
  const files = new Set(
    [...err.matchAll(/file:\/\/[^'"\s]*\/(dist\/[\w.-]+\.js)/g)].map((match) => String(match[1])),
  );
  const { outputs } = JSON.parse(readFileSync(`${root}/dist/metafile-esm.json`, 'utf8')) as Metafile;
  const inputs = [...files].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {}));
  const named = inputs.map((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? input);
  return { files: [...files].sort(), list: `${[...new Set(named)].sort().join('\n')}\n` };
}

it('run wait on a run that has ended loads what it needs, and nothing that was added by accident', async () => {
  const made = await rungate(['run', 'trigger', '--project', 'a', '--process', 'b'], {
    RUNGATE_API_URL: mock.url,
    RUNGATE_API_KEY: mock.apiKey,
  }).ended;
  const { files, list } = await loaded(['run', 'wait', made.out.trim(), '--quiet']);
  // Each file more is a millisecond. Who goes by another import() than before adds it to scripts/chunks.mjs.
  expect(files).toEqual(['dist/cli.js', 'dist/core.js', 'dist/version.js']);
  // Renewed with: npx vitest run --project e2e test/e2e/loads.test.ts --update
  await expect(list).toMatchFileSnapshot('../../fixtures/loads/run-wait.txt');
  for (const never of [
    'hono',
    'ora',
    'cli-table3',
    'chalk',
    'lossless-json',
    'src/contract/env.ts',
    'src/mock/server.ts',
  ]) {
    expect(list.split('\n')).not.toContain(never);
  }
});

it('--version loads no HTTP, no contract and no schema', async () => {
  const { files, list: text } = await loaded(['--version']);
  expect(files).toEqual(['dist/version.js']);
  const list = text.split('\n');
  for (const never of ['src/http/hop.ts', 'zod', 'p-retry', 'src/contract/run.ts'])
    expect(list).not.toContain(never);
});
