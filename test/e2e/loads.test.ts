import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { type Running, root, rungate, start } from './built.ts';

let mock: MockServer;
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
  /** Their sources and packages, one on each line. */
  list: string;
}

/** Returns the settings of the mock, and the variable with which Node lists the modules it loads. */
const traced = () => ({ RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, NODE_DEBUG: 'esm' });

const loaded = (args: readonly string[]) => loadedBy(rungate(args, traced()));

async function loadedBy({ ended }: Running): Promise<Loaded> {
  const { err, code } = await ended;
  expect(code).toBe(0);
  const files = new Set(
    [...err.matchAll(/file:\/\/[^'"\s]*\/(dist\/[\w.-]+\.js)/g)].map((match) => String(match[1])),
  );
  const { outputs } = JSON.parse(readFileSync(`${root}/dist/metafile-esm.json`, 'utf8')) as Metafile;
  const inputs = [...files].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {}));
  const named = inputs.map((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(input)?.[1] ?? input);
  return { files: [...files].sort(), list: `${[...new Set(named)].sort().join('\n')}\n` };
}

it('run wait on a run that has ended loads only what it needs', async () => {
  const created = await rungate(['run', 'trigger', '--project', 'a', '--process', 'b'], {
    RUNGATE_API_URL: mock.url,
    RUNGATE_API_KEY: mock.apiKey,
  }).ended;
  const { files, list } = await loaded(['run', 'wait', created.out.trim(), '--quiet']);
  expect(files).toContain('dist/cli.js');
  for (const unwanted of [
    'string-width',
    'cli-table3',
    'conf',
    'ora',
    'chalk',
    'src/contract/observations.ts',
    'src/mock/server.ts',
    'src/hub/server.ts',
    '@redis/client',
    'prom-client',
  ]) {
    expect(list.split('\n')).not.toContain(unwanted);
  }
});

it('only hub has the server of the hub and its metrics, and the package has no Redis client', () => {
  const { outputs } = JSON.parse(readFileSync(`${root}/dist/metafile-esm.json`, 'utf8')) as Metafile;
  const filesWith = (part: string) =>
    Object.keys(outputs).filter((file) =>
      Object.keys(outputs[file]?.inputs ?? {}).some((input) => input.includes(part)),
    );
  const [file, ...others] = filesWith('src/commands/hub/run.ts');
  expect(others).toEqual([]);
  for (const part of ['src/hub/server.ts', '/prom-client/']) expect(filesWith(part), part).toEqual([file]);
  expect(filesWith('@redis/client/')).toEqual([]);
});

it.each(['--version', '-V', 'version'])('%s loads nothing of dist', async (word) => {
  expect((await loaded([word])).files).toEqual([]);
});

describe('the library', () => {
  /** Runs code that imports the names, against the mock. */
  const program = (names: string, text: string) => {
    const index = pathToFileURL(`${root}/dist/index.js`).href;
    const code = `
      import { ${names} } from ${JSON.stringify(index)};
      const service = { apiUrl: process.env.RUNGATE_API_URL, apiKey: process.env.RUNGATE_API_KEY };
      ${text}`;
    return loadedBy(start(process.execPath, ['--input-type=module', '--eval', code], traced()));
  };
  const commandLine = [
    'commander',
    'cli-table3',
    'chalk',
    'src/cli/main.ts',
    'src/cli/program.ts',
    'src/ci/reports/junit.ts',
  ];
  const mockSources = ['src/mock/server.ts', 'src/mock/service.ts'];

  it.each([
    [
      'createClient',
      'const client = createClient(service); await client.orders.list(); await client.close();',
    ],
    ['gate', "await gate({ ...service, trigger: { projectSlug: 'a', processSlug: 'b' } });"],
    [
      'gates',
      "await gates({ ...service, gates: { a: { trigger: { projectSlug: 'a', processSlug: 'b' } } } });",
    ],
  ])('%s loads neither the command line nor the mock', async (name, text) => {
    const { files, list } = await program(name, text);
    expect(files).toContain('dist/index.js');
    expect(files).not.toContain('dist/cli.js');
    for (const unwanted of [...commandLine, ...mockSources]) expect(list.split('\n')).not.toContain(unwanted);
  });
});
