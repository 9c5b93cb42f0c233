import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage({ outcome: 'passed', duration: 1000 });
});
afterEach(() => on.close());

const github = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: '42' };
const withFile = (settings: object): Settings => ({
  cwd: '/repo',
  files: { '/repo/.git': '', '/repo/.rungate.json': JSON.stringify(settings) },
});

describe('run trigger without --wait, in CI', () => {
  it.each<[string, Settings, RegExp]>([
    [
      'strict in the environment',
      { env: { ...github, RUNGATE_STRICT: 'true' } },
      /strict \(RUNGATE_STRICT\)/,
    ],
    [
      'a timeout in the project file',
      { env: github, ...withFile({ timeout: '30m' }) },
      /timeout \(\/repo\/\.rungate\.json\)/,
    ],
    ['a CI system that only sets CI', { env: { CI: 'true', RUNGATE_STRICT: '1' } }, /strict/],
    [
      'two settings',
      { env: github, ...withFile({ strict: true, timeout: '30m' }) },
      /: strict \(\S+\), timeout \(\S+\)$/m,
    ],
  ])('warns once and starts the run: %s', async (_name, settings, pattern) => {
    const { code, out, err } = await on.with(settings)(...trigger);
    expect(code).toBe(0);
    expect(out).toMatch(/^run_\w+\n$/);
    expect(err).toMatch(pattern);
    expect(err.match(/warning: run trigger does not wait for the run/g)).toHaveLength(1);
    expect(err).toMatch(/→ use rungate gate, which waits, or --no-wait/);
  });

  it.each<[string, Settings]>([
    ['without any setting', { env: github }],
    ['with settings that are not about a gate', { env: github, ...withFile({ environment: 'staging' }) }],
    ['in CI that only sets CI', { env: { CI: 'true' } }],
  ])('warns once that nothing waits for the run, %s', async (_name, settings) => {
    const { code, out, err } = await on.with(settings)(...trigger);
    expect(code).toBe(0);
    expect(out).toMatch(/^run_\w+\n$/);
    expect(err).toMatch(
      /^warning: run trigger does not wait for the run, so the run cannot fail this job\n {2}→ use rungate gate, which waits, or --no-wait if/m,
    );
    expect(err.match(/warning: run trigger does not wait/g)).toHaveLength(1);
  });

  it.each<[string, string[], Settings]>([
    ['--no-wait', ['--no-wait'], { env: { ...github, RUNGATE_STRICT: 'true' } }],
    ['no CI', [], { env: { RUNGATE_STRICT: 'true' } }],
    ['no CI and no settings', [], {}],
    ['CI=false', [], { env: { CI: 'false', RUNGATE_STRICT: 'true' } }],
  ])('does not warn: %s', async (_name, argv, settings) => {
    const { code, err } = await on.with(settings)(...trigger, ...argv);
    expect(code).toBe(0);
    expect(err).not.toMatch(/warning/);
  });
});

describe('options of a wait on a run trigger that does not wait', () => {
  it.each([[['--strict']], [['--timeout', '30m']], [['--junit', 'a.xml']]])(
    '%j without --wait is a usage error, in CI and elsewhere',
    async (given) => {
      for (const env of [{}, github]) {
        const { code, err } = await on.with({ env })(...trigger, ...given);
        expect(code).toBe(64);
        expect(err).toMatch(
          /no effect without --wait[\s\S]*→ use rungate gate, which waits, or add --(?:no-)?wait/,
        );
      }
      expect(on.mock.requests).toEqual([]);
    },
  );

  it.each([[['--wait', '--no-wait']], [['--no-wait', '--wait']]])('cannot be combined: %j', async (argv) => {
    const { code, err } = await on.rungate(...trigger, ...argv);
    expect(code).toBe(64);
    expect(err).toContain('--wait and --no-wait cannot be combined');
    expect(on.mock.requests).toEqual([]);
  });
});
