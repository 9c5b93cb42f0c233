import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { kebab } from '../../src/commands/endpoints/body-input.ts';
import { exitCodes } from '../../src/exit.ts';
import { createClient } from '../../src/index.ts';
import { cli } from '../cli/harness.ts';
import { type Running, root, start } from '../e2e/built.ts';
import { type Ids, type Step, steps } from '../tour/steps.ts';

const home = join(root, 'test/prism');
const program = join(home, 'node_modules/@stoplight/prism-cli/dist/index.js');

beforeAll(async () => {
  if (existsSync(program)) return;
  const installed = await start('npm', ['ci', '--no-audit', '--no-fund'], {}, home).ended;
  if (installed.code !== 0) throw new Error(installed.err);
});

/** Prism checks only that a credential exists. */
const credentials = { apiKey: 'rg_prism', token: 'header.payload.signature' };

/** Returns an id for any name, since the responses of Prism do not depend on ids. */
const ids: Ids = new Proxy({}, { get: (_, name) => `${String(name)}-1`, set: () => true });

const maxAttempts = ['--max-attempts', '2'];
/** These may end with any verdict, but must be able to read every response. */
const gates: [name: string, argv: string[]][] = [
  ['run wait', ['run', 'wait', 'run-1', ...maxAttempts]],
  ['run trigger --wait', ['run', 'trigger', '--project', 'a', '--tag', 'b', '--wait', ...maxAttempts]],
];

const servers: [mode: string, flags: string[]][] = [
  ['static', []],
  ['dynamic, seed 1', ['--dynamic', '--seed', '1']],
  ['dynamic, seed 2', ['--dynamic', '--seed', '2']],
];

describe.each(servers)('a mock that Prism makes from docs/openapi.json (%s)', (mode, flags) => {
  let prism: Running;
  let url: string;
  const env = () => ({
    RUNGATE_API_URL: url,
    RUNGATE_API_KEY: credentials.apiKey,
    RUNGATE_TOKEN: credentials.token,
  });

  beforeAll(async () => {
    const args = ['mock', '--errors', '--port', '0', ...flags, join(root, 'docs/openapi.json')];
    prism = start(process.execPath, [program, ...args]);
    let printed = '';
    prism.child.stdout?.on('data', (chunk) => {
      printed += chunk;
    });
    await prism.shows(/listening on/);
    url = /listening on (\S+)/.exec(printed)?.[1] ?? '';
  });
  afterAll(async () => {
    prism.child.kill();
    await prism.ended;
  });

  it.each(gates)('is read by %s', async (_name, argv) => {
    const { code, err } = await cli(argv, { env: env() });
    expect(code, err).toBeLessThan(exitCodes.service);
  });

  // The page numbers of a dynamic mock are random, so --all cannot read its lists.
  if (mode === 'static') {
    it('is read to the last page by webhooks list --all', async () => {
      expect(await cli(['webhooks', 'list', '--all'], { env: env() })).toMatchObject({ code: 0 });
    });
  }

  it.each(steps.map((step): [string, Step] => [step.name, step]))('is read by %s', async (name, step) => {
    const argv = [...name.split('.').map(kebab), ...step.argv(ids)];
    for (const format of ['json', 'table']) {
      const result = await cli([...argv, '--format', format], { env: env() });
      expect(result, result.err).toMatchObject({ code: 0 });
    }
    const client = createClient({ apiUrl: url, ...credentials });
    await step.library(client, ids);
    await client.close();
  });
});
