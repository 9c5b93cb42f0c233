import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cli, type Settings, type Stage, stage } from './harness.ts';

const service = { RUNGATE_API_URL: 'https://service.example.com' };
const key = { RUNGATE_API_KEY: 'rg_1234567890abcdef' };
const file = (settings: object) => ({
  cwd: '/repo',
  files: { '/repo/.git': '', '/repo/.rungate.json': JSON.stringify(settings) },
});

describe('rungate without a command suggests', () => {
  it.each<[string, Settings, readonly RegExp[], RegExp]>([
    [
      'the mock or a login if no service is set',
      {},
      [
        /rungate mock exec -- rungate gate --project shop --process checkout/,
        /rungate login --api-url/,
        /RUNGATE_API_URL and RUNGATE_API_KEY/,
      ],
      /rungate init/,
    ],
    [
      'a project file if a service is set in a repository',
      { env: { ...service, ...key }, cwd: '/repo', files: { '/repo/.git': '' } },
      [/The service is https:\/\/service\.example\.com/, /rungate init/],
      /rungate login|mock/,
    ],
    [
      'the gate if everything is set',
      { ...file({ project: 'shop', process: 'checkout', apiUrl: 'https://service.example.com' }), env: key },
      [/The service is https:\/\/service\.example\.com/, /\n {2}rungate gate {5}starts the configured runs/],
      /rungate init|rungate login|mock/,
    ],
    [
      'a fix for a broken project file',
      { cwd: '/repo', files: { '/repo/.git': '', '/repo/.rungate.json': '{' } },
      [/\/repo\/\.rungate\.json:1:2: not valid JSON/],
      /mock/,
    ],
  ])('%s', async (_name, world, wanted, unwanted) => {
    const { code, out, err } = await cli([], world);
    // An empty variable in a pipeline must not turn a gate green.
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(/^error: no command given\n/);
    for (const pattern of wanted) expect(err).toMatch(pattern);
    expect(err).not.toMatch(unwanted);
    expect(err).not.toContain(key.RUNGATE_API_KEY);
    const lines = err.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(12);
    expect(lines.filter((line) => line.length > 80)).toEqual([]);
  });

  it.each([
    ['rungate', 'a binary of any name', ['/tmp/rungate-linux-x64']],
    ['rungate', 'a package on the PATH', ['/usr/bin/node', '/usr/bin/rungate']],
    [
      'npx rungate',
      'a package of the project',
      ['/usr/bin/node', '/shop/node_modules/rungate/bin/rungate.js'],
    ],
  ])('name %s for %s', async (self, _how, program) => {
    const { err } = await cli([], { program });
    expect(err).toContain(`\n  ${self} mock exec -- ${self} gate `);
  });

  it('name npx if npx started it', async () => {
    const { err } = await cli([], { env: { npm_command: 'exec' } });
    expect(err).toMatch(/^ {2}npx rungate mock exec -- npx rungate gate --project shop --process checkout$/m);
    expect(err.split('\n').filter((line) => line.length > 80)).toEqual([]);
  });

  it('--help in one line of JSON with --json', async () => {
    const { code, err } = await cli(['--json']);
    expect(code).toBe(64);
    expect(err.trimEnd().split('\n')).toHaveLength(1);
    expect(JSON.parse(err).error).toMatchObject({ code: 'usage', hint: 'see rungate --help' });
  });
});

describe('the first steps', () => {
  let on: Stage;
  beforeEach(async () => {
    on = await stage({ outcome: 'passed' });
  });
  afterEach(() => on.close());

  it('contain a gate against the mock that works when pasted', async () => {
    const { err } = await cli([]);
    const [, gate = ''] = / mock exec -- rungate (.*)/.exec(err) ?? [];
    expect((await on.rungate(...gate.split(' '))).code).toBe(0);
  });
});
