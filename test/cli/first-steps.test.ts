import { describe, expect, it } from 'vitest';
import { cli } from './harness.ts';

describe('rungate without a command suggests', () => {
  it('the mock, a login, and the next commands', async () => {
    const { code, out, err } = await cli([]);
    // An empty variable in a pipeline must not turn a gate green.
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toMatch(/^error: no command given\n/);
    for (const command of ['mock exec', 'login --api-url', 'init ', 'gate ', 'doctor ', '--help'])
      expect(err).toContain(`\n  rungate ${command}`);
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
