import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { retriesIn } from '../../../src/commands/selftest/judge.ts';
import { scenarios } from '../../../src/commands/selftest/scenarios.ts';
import { stepEnvironment } from '../../../src/commands/selftest/step.ts';
import type { GroupOptions, GroupResult } from '../../../src/host/process-group.ts';
import { cli, inRepository, memoryIo, type Result, type Settings, trigger } from '../../cli/harness.ts';
import { type FakeClock, fakeClock } from '../../fake-clock.ts';

const gate = [...trigger, '--wait', '--strict'];
type Group = NonNullable<Settings['group']>;

/** Runs a selftest whose step is a function in this process. */
async function selftest(
  play: (
    gate: (...argv: string[]) => Promise<Result>,
    options: GroupOptions,
  ) => Promise<Partial<GroupResult>>,
  {
    words = [] as string[],
    step = ['./step.sh'],
    clock = fakeClock(),
    ...settings
  }: Settings & Record<string, unknown> & { words?: string[]; step?: string[]; clock?: FakeClock } = {},
): Promise<Result> {
  const group: Group = (_command, options) =>
    play(async (...argv) => {
      const own = { cwd: settings.cwd ?? '/nowhere', files: settings.files ?? {} };
      const result = await cli(argv, { clock, env: options.env as Record<string, string>, ...own });
      options.onOutput(new TextEncoder().encode(result.out + result.err));
      return result;
    }, options);
  return cli(['selftest', ...words, '--', ...step], { clock, group, ...settings });
}

const verdicts = ({ out }: Result) =>
  Object.fromEntries(
    JSON.parse(out).scenarios.map((one: { name: string; ok: boolean; exitCode: number }) => [
      one.name,
      `${one.exitCode} ${one.ok ? 'ok' : 'WRONG'}`,
    ]),
  );

describe('selftest', () => {
  it('runs the step once for every outcome of the gate, with its exit code', async () => {
    const keys = new Set<string | undefined>();
    const step: Parameters<typeof selftest>[0] = async (gateOf, { env }) => {
      keys.add(env.RUNGATE_API_KEY);
      return { code: (await gateOf(...gate)).code };
    };
    const result = await selftest(step, { words: ['--json', '--cancelled', 'red'] });
    expect(verdicts(result)).toEqual({
      passed: '0 ok',
      failed: '1 ok',
      blocked: '2 ok',
      cancelled: '4 ok',
      timeout: '3 ok',
      refused: '6 ok',
      down: '7 ok',
      broken: '5 ok',
      lost: '7 ok',
    });
    expect(result.code).toBe(0);
    const report = JSON.parse(result.out);
    expect(report).toMatchObject({ schemaVersion: 1, ok: true });
    expect(report.scenarios[0]).toEqual({
      name: 'passed',
      expected: 'green',
      exitCode: 0,
      ok: true,
      verdict: 'ok',
      seconds: expect.any(Number),
      runsCreated: 1,
      hint: null,
    });
    const runs = report.scenarios.map((one: { runsCreated: number }) => one.runsCreated);
    expect(runs).toEqual([1, 1, 1, 1, 1, 0, 0, 1, 1]);
    // A mock may get the port of one that has closed.
    expect(keys.size).toBe(scenarios.length);
  });

  it.each([
    ['rungate run trigger --wait --retries 3', 0, 3],
    ['rungate run trigger --wait', 4, 4],
    ['rungate run trigger --wait --retries 99', 0, 10],
    ['rungate run trigger --wait --retries "$RETRIES"', 1, 1],
  ])('reads the retries of %s, with %i in the settings, as %i', (text, bySettings, retries) => {
    expect(retriesIn(text, bySettings)).toBe(retries);
  });

  it('exits with 1 for a step that passes a failure, with the cause and the last lines of the step', async () => {
    const result = await selftest(
      async (gateOf) => {
        await gateOf(...gate);
        return { code: 0 };
      },
      { step: ['bash', '-c', 'rungate run trigger --wait --strict | tee gate.log'] },
    );
    expect(result.code).toBe(1);
    expect(result.out).toMatch(
      /^passed\tgreen\t0\tok\t\S+\t1\t\nfailed\tred\t0\tWRONG\t\S+\t1\tthe exit code of a pipe/,
    );
    expect(result.err).toMatch(
      /WRONG: failed: expected red, the step exited with 0\n {2}→ the exit code of a pipe/,
    );
    expect(result.err).toMatch(/ {2}\| gate failed \(exit 1\)/);
    expect(result.err).toMatch(/8 of 9 scenarios are wrong/);
  });

  it.each([
    ['broken', 5],
    ['lost', 7],
  ])('rejects a step that passes if the service is %s after it created the run', async (name, ignored) => {
    const result = await selftest(
      async (gateOf) => {
        const { code } = await gateOf(...gate, '--timeout', '24h');
        return { code: code === ignored ? 0 : code };
      },
      { words: ['--json', '--scenario', 'failed', '--scenario', name] },
    );
    expect(verdicts(result)).toEqual({ failed: '1 ok', [name]: '0 WRONG' });
    expect(JSON.parse(result.out).scenarios[1]).toMatchObject({
      runsCreated: 1,
      hint: expect.stringContaining('the exit code of the gate is lost'),
    });
  });

  it('does not judge a step that was still running at the time limit, and does not pass', async () => {
    const result = await selftest(async () => ({ code: null, signal: 'SIGTERM', stopped: true }), {
      words: ['--time-limit', '5m'],
    });
    expect(result.code).toBe(1);
    expect(result.out).toMatch(/failed\tred\t143 \(stopped\)\tunknown\t\S+\t0\t.*raise --time-limit/);
    expect(result.err).toMatch(/\? UNKNOWN: failed: .*[\s\S]*9 of 9 scenarios are unknown\n$/);
    expect(result.err).not.toContain('WRONG');
  });

  it('shows the output of the step only with --verbose, and sanitised', async () => {
    const play = async (_gate: unknown, { onOutput }: GroupOptions) => {
      onOutput(new TextEncoder().encode('::error::owned\n\u001b[2J second\n'));
      return { code: 1 };
    };
    const hidden = await selftest(play, { words: ['--scenario', 'failed'] });
    expect(hidden.err).not.toMatch(/owned/);
    const shown = await selftest(play, { words: ['--scenario', 'failed', '--verbose'] });
    expect(shown.err).toContain('  | : :error::owned\n  | \\u001b[2J second\n');
    const wrong = await selftest(play, { words: ['--scenario', 'passed'] });
    expect(wrong.err).toContain('  | : :error::owned\n');
  });
});

describe('a step that runs several gates', () => {
  const usual = {
    perf: { process: 'perf', advisory: true },
    api: { process: 'api' },
    web: { tags: ['web'], needs: ['api'] },
  };
  const all = { passed: '0 ok', failed: '1 ok', blocked: '2 ok', cancelled: '4 ok', timeout: '3 ok' };
  it.each<[string, object, object?]>([
    ['an advisory one first', usual],
    ['retries for all', usual, { retries: 1 }],
    [
      'one first that only warns',
      { slow: { process: 'slow', on: { failed: 'warn', blocked: 'pass', timeout: 'warn' } }, ...usual },
    ],
  ])('is right in every scenario with %s', async (_what, gates, more) => {
    const words = ['--json', ...Object.keys(all).flatMap((name) => ['--scenario', name])];
    const result = await selftest(async (gateOf) => ({ code: (await gateOf('gate', '--strict')).code }), {
      words,
      step: ['bash', '-c', 'rungate gate --strict'],
      ...inRepository({ project: 'shop', ...more, gates }),
    });
    expect([result.code, verdicts(result)]).toEqual([0, all]);
    const { scenarios } = JSON.parse(result.out);
    expect(scenarios.filter(({ hint }: { hint: string | null }) => hint !== null)).toEqual([]);
  });
});

describe('the cancelled scenario', () => {
  const lenient = ['run', 'trigger', '--project', 'a', '--process', 'b', '--wait'];
  const play: Parameters<typeof selftest>[0] = async (gateOf) => ({ code: (await gateOf(...lenient)).code });
  const words = ['--scenario', 'cancelled'];

  it('is a warning if the step lets it pass', async () => {
    const result = await selftest(play, { words });
    expect(result.code).toBe(0);
    expect(result.out).toMatch(/^cancelled\tany\t0\twarning\t\S+\t1\t.*use --strict\n$/);
  });

  it('expects red of a step that is strict by its options, its script or its settings', async () => {
    const expected = async (settings: object) =>
      JSON.parse((await selftest(play, { words: [...words, '--json'], ...settings })).out).scenarios[0]
        .expected;
    expect(await expected({ step: ['rungate', 'run', 'trigger', '--strict'] })).toBe('red');
    const files = { '/nowhere/step.sh': 'rungate run trigger --wait --strict\n' };
    expect(await expected({ files })).toBe('red');
    expect(await expected({ env: { RUNGATE_STRICT: 'true' } })).toBe('red');
    expect(await expected({ files: { '/nowhere/step.sh': '# --strict\nrungate run wait x\n' } })).toBe('any');
  });
});

describe('the environment of the step', () => {
  async function environment(env: Record<string, string>, scenario = 'passed') {
    let seen: GroupOptions['env'] = {};
    let contents: Record<string, string> = {};
    const result = await selftest(
      async (_gate, options) => {
        seen = options.env;
        const paths = Object.entries(seen).filter(([, value]) => value?.includes('/rungate-'));
        contents = Object.fromEntries(
          paths.flatMap(([name, path]) => {
            try {
              return [[name, readFileSync(path ?? '', 'utf8')]];
            } catch {
              return [];
            }
          }),
        );
        const shim = join((seen.PATH ?? '').split(':')[0] ?? '', 'rungate');
        contents.shim = readFileSync(shim, 'utf8');
        return {};
      },
      { words: ['--scenario', scenario], env, files: { '/bash-env': 'export A=1\n' } },
    );
    return { seen, contents, result };
  }

  it('has the mock without a proxy, and none of the user’s credentials', async () => {
    const { seen } = await environment({
      PATH: '/usr/bin',
      HTTPS_PROXY: 'http://proxy:3128',
      NO_PROXY: 'internal',
      HOME: '/home/me',
      RUNGATE_API_URL: 'https://real.example.com',
      RUNGATE_API_KEY: 'the-real-key',
      RUNGATE_PROJECT: 'shop',
    });
    expect(seen.RUNGATE_API_URL).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(Object.values(seen)).not.toContain('the-real-key');
    expect([seen.NO_PROXY, seen.no_proxy]).toEqual(Array(2).fill('internal,127.0.0.1'));
    expect(seen).toMatchObject({ HOME: '/home/me', RUNGATE_PROJECT: 'shop', RUNGATE_SELFTEST: 'passed' });
  });

  it('has no profile, no secret files, and no hub, even if the project file has one', () => {
    const { io } = memoryIo({
      env: {
        RUNGATE_API_KEY_FILE: '/key',
        RUNGATE_TOKEN_FILE: '/key',
        RUNGATE_PROFILE: 'production',
        RUNGATE_HUB_TOKEN: 'x',
        RUNGATE_HUB_TOKEN_FILE: '/x',
      },
    });
    const folder = io.temporaryFolder();
    const env = stepEnvironment(io, 'passed', {}, folder, '/shims');
    folder.remove();
    for (const name of Object.keys(io.env)) expect([name, env[name]]).toEqual([name, undefined]);
    expect(env.RUNGATE_HUB_URL).toBe('none');
  });

  it('has the rungate under test first on the path, and is removed afterwards', async () => {
    const { seen, contents } = await environment({ PATH: '/usr/bin' });
    expect(seen.PATH).toMatch(/:\/usr\/bin$/);
    expect(contents.shim).toBe(`#!/bin/sh\nexec 'node' '/usr/bin/rungate' "$@"\n`);
    expect(existsSync(dirname(seen.TMPDIR ?? ''))).toBe(false);
  });
});

describe('usage', () => {
  it.each([
    [['selftest'], /missing required argument 'command'/],
    [['selftest', '--cancelled', 'blue', '--', 'x'], /--cancelled: "blue" is not one of green, red, any/],
    [['selftest', '--scenario', 'happy', '--', 'x'], /--scenario: "happy" is not one of passed/],
  ])('%j exits with 64', async (argv, message) => {
    const result = await cli(argv);
    expect(result).toMatchObject({ code: 64, out: '' });
    expect(result.err).toMatch(message);
  });

  it('a signal ends the selftest without a result', async () => {
    let stop: (signal: 'SIGTERM') => void = () => {};
    const step: Parameters<typeof selftest>[0] = async (_gate, { signal }) => {
      stop('SIGTERM');
      expect(signal.aborted).toBe(true);
      return { code: null, signal: 'SIGTERM', stopped: true };
    };
    const onStop = (given: typeof stop) => {
      stop = given;
    };
    const result = await selftest(step, { onStop: onStop as never });
    expect(result).toMatchObject({ code: 143, out: '' });
    expect(result.err).toMatch(/stopped by SIGTERM/);
  });
});
