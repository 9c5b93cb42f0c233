import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { stepEnvironment } from '../../../src/commands/selftest/environment.ts';
import {
  hintFor,
  type PolicySettings,
  plainScript,
  type Symptom,
} from '../../../src/commands/selftest/hints.ts';
import { judge, looksStrict } from '../../../src/commands/selftest/judge.ts';
import { type StepResult, scenarios } from '../../../src/commands/selftest/scenarios.ts';
import type { GroupOptions, GroupResult } from '../../../src/host/process-group.ts';
import { policyOf } from '../../../src/settings/merge.ts';
import { cli, memoryIo, type Result, type Settings, trigger } from '../../cli/harness.ts';
import { fakeClock } from '../../fake-clock.ts';
import { turns } from '../../until.ts';

const gate = [...trigger, '--wait', '--strict'];
type Group = NonNullable<Settings['group']>;

/** A selftest of a step that is played in this process. */
async function selftest(
  play: (
    gate: (...argv: string[]) => Promise<Result>,
    options: GroupOptions,
  ) => Promise<Partial<GroupResult>>,
  {
    words = [] as string[],
    step = ['./step.sh'],
    ...settings
  }: Settings & Record<string, unknown> & { words?: string[]; step?: string[] } = {},
): Promise<Result> {
  const clock = fakeClock();
  const group: Group = (_command, options) =>
    play(async (...argv) => {
      const result = await cli(argv, { clock, env: options.env as Record<string, string> });
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
  it.each([
    [['failed', 'passed'], 'red turns red and green turns green'],
    [['failed'], 'red turns red; no green scenario was run'],
    [['passed'], 'green turns green; no red scenario was run'],
    [['cancelled'], 'no red scenario was run; no green scenario was run'],
  ])('of %j says what it has shown', async (names, says) => {
    const words = names.flatMap((name) => ['--scenario', name]);
    const { code, err } = await selftest(async (gateOf) => ({ code: (await gateOf(...gate)).code }), {
      words,
    });
    expect(code).toBe(0);
    expect(err).toContain(`✓ ${says}\n`);
  });

  it('sees every outcome of the gate, each once, with the code that it has', async () => {
    const result = await selftest(async (gateOf) => ({ code: (await gateOf(...gate)).code }), {
      words: ['--json', '--cancelled', 'red'],
    });
    expect(verdicts(result)).toEqual({
      passed: '0 ok',
      failed: '1 ok',
      blocked: '2 ok',
      cancelled: '4 ok',
      timeout: '3 ok',
      refused: '6 ok',
      down: '7 ok',
    });
    expect(result.code).toBe(0);
    const report = JSON.parse(result.out);
    expect(report).toMatchObject({ schemaVersion: 1, ok: true });
    expect(report.scenarios[0]).toEqual({
      name: 'passed',
      expected: 'green',
      exitCode: 0,
      ok: true,
      seconds: expect.any(Number),
      runsCreated: 1,
      hint: null,
    });
    const runs = report.scenarios.map((one: { runsCreated: number }) => one.runsCreated);
    expect(runs).toEqual([1, 1, 1, 1, 1, 0, 0]);
  });

  it.each([
    ['--timeout', '24h'],
    ['--max-attempts', '5000'],
    ['--interval', '30s', '--timeout', '30m'],
  ])('a stuck run times out at once, whatever the step allows: %s %s', async (...limits) => {
    const result = await selftest(async (gateOf) => ({ code: (await gateOf(...gate, ...limits)).code }), {
      words: ['--json', '--scenario', 'timeout'],
    });
    expect(verdicts(result)).toEqual({ timeout: '3 ok' });
    expect(JSON.parse(result.out).scenarios[0].seconds).toBeLessThan(1);
  });

  it('is 1 when red stays green, and says why with the last lines of the step', async () => {
    const result = await selftest(
      async (gateOf) => {
        await gateOf(...gate);
        return { code: 0 };
      },
      { step: ['bash', '-c', 'rungate run trigger --wait --strict | tee gate.log'] },
    );
    expect(result.code).toBe(1);
    expect(result.out).toMatch(/^passed\tgreen\t0\tok\t\S+\t1\t\nfailed\tred\t0\tWRONG\t\S+\t1\tin a pipe/);
    expect(result.err).toMatch(/WRONG: failed: expected red, the step ended with 0\n {2}→ in a pipe/);
    expect(result.err).toMatch(/ {2}\| gate failed \(exit 1\)/);
    expect(result.err).toMatch(/6 of 7 scenarios are wrong/);
  });

  it('a step that never asks the gate is wrong, green as it is', async () => {
    const result = await selftest(async () => ({ code: 0 }), { words: ['--json', '--scenario', 'passed'] });
    expect(result.code).toBe(1);
    expect(JSON.parse(result.out).scenarios[0]).toMatchObject({
      runsCreated: 0,
      ok: false,
      hint: expect.stringMatching(/never asked/),
    });
  });

  it('a step that starts two runs gets a warning', async () => {
    const result = await selftest(
      async (gateOf) => {
        await gateOf(...gate);
        return { code: (await gateOf(...gate)).code };
      },
      { words: ['--scenario', 'passed'] },
    );
    expect(result.code).toBe(0);
    expect(result.out).toMatch(/passed\tgreen\t0\twarning\t\S+\t2\tthe step st/);
  });

  it('a step that tries again after red is wrong: the second run is green', async () => {
    const result = await selftest(
      async (gateOf) => {
        const first = await gateOf(...gate);
        return { code: first.code === 0 ? 0 : (await gateOf(...gate)).code };
      },
      { words: ['--json', '--scenario', 'failed'] },
    );
    expect(verdicts(result)).toEqual({ failed: '0 WRONG' });
    expect(result.out).toMatch(/another run after a red one/);
  });

  it('two runs that are waited for together stay red when the first is', async () => {
    const result = await selftest(
      async (gateOf) => {
        const ids = [(await gateOf(...trigger)).out.trim(), (await gateOf(...trigger)).out.trim()];
        return { code: (await gateOf('run', 'wait', ...ids)).code };
      },
      { words: ['--json', '--scenario', 'failed', '--scenario', 'blocked'] },
    );
    expect(verdicts(result)).toEqual({ failed: '1 ok', blocked: '2 ok' });
  });

  it('a step that did not end is wrong, whatever code the stop gave it', async () => {
    const result = await selftest(async () => ({ code: null, signal: 'SIGTERM', stopped: true }), {
      words: ['--time-limit', '5m'],
    });
    expect(result.code).toBe(1);
    expect(result.out).toMatch(/failed\tred\t143 \(stopped\)\tWRONG\t\S+\t0\t.*--time-limit/);
  });

  it('gives the step its time limit', async () => {
    const limits: number[] = [];
    const play = async (_gate: unknown, { limitMs }: GroupOptions) => {
      limits.push(limitMs);
      return {};
    };
    await selftest(play, { words: ['--scenario', 'down'] });
    await selftest(play, { words: ['--scenario', 'down', '--time-limit', '5m'] });
    expect(limits).toEqual([60_000, 300_000]);
  });

  it('what the step prints is hidden, but for --verbose, and harmless', async () => {
    const play = async (_gate: unknown, { onOutput }: GroupOptions) => {
      onOutput(new TextEncoder().encode('::error::owned\n\u001b[2Jsecond\n'));
      return { code: 1 };
    };
    const hidden = await selftest(play, { words: ['--scenario', 'failed'] });
    expect(hidden.err).not.toMatch(/owned/);
    const shown = await selftest(play, { words: ['--scenario', 'failed', '--verbose'] });
    expect(shown.err).toContain('  | : :error::owned\n  | \\u001b[2Jsecond\n');
    const wrong = await selftest(play, { words: ['--scenario', 'passed'] });
    expect(wrong.err).toContain('  | : :error::owned\n');
  });

  it('shows a wrong step’s last lines, and never more', async () => {
    const play = async (_gate: unknown, { onOutput }: GroupOptions) => {
      for (let line = 0; line < 20_000; line += 1) onOutput(new TextEncoder().encode(`line ${line}\n`));
      return { code: 1 };
    };
    const { err } = await selftest(play, { words: ['--scenario', 'passed'] });
    expect(err).toMatch(/lines before these\n {2}\| line 19992\n(?:.*\n){6} {2}\| line 19999\n/);
    expect(err).not.toMatch(/line 19991\n/);
  });
});

describe('of a cancelled run', () => {
  const lenient = ['run', 'trigger', '--project', 'a', '--process', 'b', '--wait'];
  const play: Parameters<typeof selftest>[0] = async (gateOf) => ({ code: (await gateOf(...lenient)).code });
  const words = ['--scenario', 'cancelled'];

  it('a step that lets it pass gets a warning', async () => {
    const result = await selftest(play, { words });
    expect(result.code).toBe(0);
    expect(result.out).toMatch(/^cancelled\tany\t0\twarning\t\S+\t1\t.*add --strict\n$/);
  });

  it.each([
    ['red', 1],
    ['green', 0],
    ['any', 0],
  ])('--cancelled %s → %i', async (colour, code) => {
    expect((await selftest(play, { words: [...words, '--cancelled', colour] })).code).toBe(code);
  });

  it('red is expected of a step that says it is strict, in its words, its script or its settings', async () => {
    const expected = async (settings: object) =>
      JSON.parse((await selftest(play, { words: [...words, '--json'], ...settings })).out).scenarios[0]
        .expected;
    expect(await expected({ step: ['rungate', 'run', 'trigger', '--strict'] })).toBe('red');
    const files = { '/nowhere/step.sh': 'rungate run trigger --wait --strict\n' };
    expect(await expected({ files })).toBe('red');
    expect(await expected({ env: { RUNGATE_STRICT: 'true' } })).toBe('red');
    expect(await expected({ files: { '/nowhere/step.sh': '# --strict\nrungate run wait x\n' } })).toBe('any');
  });

  it.each([
    ['--strict', 'warn', true],
    ['--strict --no-strict', 'warn', false],
    ['--strict --on cancelled=warn', 'warn', false],
    ["--on 'cancelled=fail'", 'warn', true],
    ['', 'fail', true],
    ['--no-strict', 'fail', false],
    ['--strict', 'pass', true],
    ['--on cancelled=fail', 'pass', true],
    ['--stricter', 'warn', false],
  ] as const)('%j where the settings %s is strict: %j', (text, bySettings, strict) => {
    expect(looksStrict(text, bySettings)).toBe(strict);
  });
});

describe('the step’s surroundings', () => {
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

  it('are the mock, and none of the user’s own credentials', async () => {
    const { seen } = await environment({
      PATH: '/usr/bin',
      HOME: '/home/me',
      RUNGATE_API_URL: 'https://real.example.com',
      RUNGATE_API_KEY: 'the-real-key',
      RUNGATE_PROJECT: 'shop',
    });
    expect(seen.RUNGATE_API_URL).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(Object.values(seen)).not.toContain('the-real-key');
    expect(seen).toMatchObject({ HOME: '/home/me', RUNGATE_PROJECT: 'shop', RUNGATE_SELFTEST: 'passed' });
  });

  it('have no profile, no journal and no secrets by file', () => {
    const { io } = memoryIo({
      env: {
        RUNGATE_API_KEY_FILE: '/key',
        RUNGATE_TOKEN_FILE: '/key',
        RUNGATE_PROFILE: 'production',
        RUNGATE_JOURNAL: '/real/journal',
      },
    });
    const folder = io.temporaryFolder();
    const env = stepEnvironment(io, 'passed', {}, folder, '/shims');
    folder.remove();
    for (const name of Object.keys(io.env)) expect([name, env[name]]).toEqual([name, undefined]);
  });

  it('leave the CI’s variables, but for what would write to the real build', async () => {
    const { seen, contents } = await environment({
      CI: 'true',
      GITHUB_ACTIONS: 'true',
      GITHUB_RUN_ATTEMPT: '3',
      GITHUB_OUTPUT: '/real/output',
      GITHUB_STEP_SUMMARY: '/real/summary',
      GITHUB_ENV: '/real/env',
      GITHUB_STATE: '/real/state',
      GITHUB_PATH: '/real/path',
      RUNNER_TEMP: '/real/temp',
      BASH_ENV: '/bash-env',
    });
    expect(seen).toMatchObject({ CI: 'true', GITHUB_RUN_ATTEMPT: '3' });
    expect(Object.values(seen).filter((value) => value?.startsWith('/real/'))).toEqual([]);
    expect(contents).toMatchObject({ GITHUB_OUTPUT: '', GITHUB_STATE: '', BASH_ENV: 'export A=1\n' });
    expect(seen.RUNNER_TEMP).toBe(seen.TMPDIR);
  });

  it('have the rungate under test first on the path, and are gone afterwards', async () => {
    const { seen, contents } = await environment({ PATH: '/usr/bin' });
    expect(seen.PATH).toMatch(/:\/usr\/bin$/);
    expect(contents.shim).toBe(`#!/bin/sh\nexec 'rungate' "$@"\n`);
    expect(existsSync(dirname(seen.TMPDIR ?? ''))).toBe(false);
  });

  it('lead to the mock past any proxy', async () => {
    const { seen } = await environment({ HTTPS_PROXY: 'http://proxy:3128', NO_PROXY: 'internal' });
    expect(seen.NO_PROXY).toBe('internal,127.0.0.1');
    expect(seen.no_proxy).toBe('internal,127.0.0.1');
  });

  it('refuse every credential, and have nobody listen, where that is the scenario', async () => {
    expect((await environment({}, 'down')).seen.RUNGATE_API_URL).toBe('http://127.0.0.1:1');
    expect((await environment({}, 'refused')).seen.RUNGATE_API_KEY).toMatch(/^rg_/);
  });
});

describe('usage', () => {
  it.each([
    [['selftest'], /missing required argument 'command'/],
    [['selftest', '--cancelled', 'blue', '--', 'x'], /--cancelled: "blue" is not one of green, red, any/],
    [['selftest', '--scenario', 'happy', '--', 'x'], /--scenario: "happy" is not one of passed/],
    [['selftest', '--time-limit', 'soon', '--', 'x'], /--time-limit: "soon" is not a duration/],
    [['selftest', '--parallel', '0', '--', 'x'], /--parallel: "0" is not a number/],
  ])('%j is 64', async (argv, message) => {
    const result = await cli(argv);
    expect(result).toMatchObject({ code: 64, out: '' });
    expect(result.err).toMatch(message);
  });

  it('a step that is not there is 64, and says how to give one', async () => {
    const result = await selftest(() => Promise.reject(Object.assign(new Error('no'), { code: 'ENOENT' })));
    expect(result).toMatchObject({ code: 64, out: '' });
    expect(result.err).toMatch(/step\.sh: command not found[\s\S]*bash -c/);
  });

  it('a step that is not executable is 64, and the remedy works for it', async () => {
    const result = await selftest(() => Promise.reject(Object.assign(new Error('no'), { code: 'EACCES' })));
    expect(result).toMatchObject({ code: 64, out: '' });
    expect(result.err).toBe(
      'error: ./step.sh: it is not executable\n  → run chmod +x ./step.sh, or name the shell: rungate selftest -- sh ./step.sh\n',
    );
  });

  it('stopped, it ends as a stop does, without a verdict', async () => {
    let stop: (signal: 'SIGTERM') => void = () => {};
    const result = await selftest(
      async (_gate, { signal }) => {
        stop('SIGTERM');
        expect(signal.aborted).toBe(true);
        return { code: null, signal: 'SIGTERM', stopped: true };
      },
      {
        onStop: (given) => {
          stop = given;
        },
      },
    );
    expect(result).toMatchObject({ code: 143, out: '' });
    expect(result.err).toMatch(/stopped by SIGTERM/);
  });

  it('runs scenarios side by side when asked to, and reports them in order', async () => {
    let running = 0;
    let most = 0;
    const play = async () => {
      running += 1;
      most = Math.max(most, running);
      await turns(300 - running);
      running -= 1;
      return { code: 1 };
    };
    const result = await selftest(play, { words: ['--json', '--parallel', '3'] });
    expect(most).toBe(3);
    expect(Object.keys(verdicts(result))).toEqual(scenarios.map(({ name }) => name));
  });
});

const step = 'rungate run trigger --project a --process b --wait --strict';

/** Results of a step that is green whatever happens; of some scenarios something else. */
function results(changes: Partial<StepResult> = {}): StepResult[] {
  return scenarios.map((scenario) => ({
    scenario: { ...scenario, expected: scenario.name === 'cancelled' ? 'red' : scenario.expected },
    exitCode: 0,
    seconds: 1,
    runsCreated: scenario.service === 'up' ? 1 : 0,
    endsRead: scenario.service === 'up' && scenario.name !== 'timeout' ? 1 : 0,
    stopped: false,
    leftBehind: false,
    output: '',
    ...changes,
  }));
}

const usualPolicy = policyOf({});

function hint(
  symptom: Symptom,
  script: string,
  name = 'failed',
  all = results(),
  policy = usualPolicy,
): string {
  const result = all.find(({ scenario }) => scenario.name === name);
  if (result === undefined) throw new Error(name);
  return hintFor(symptom, { text: plainScript(script), policy, result, results: all });
}

describe('the likely cause of red that stays green', () => {
  it.each([
    [`${step} | tee log`, /in a pipe/],
    [`${step} 2>&1 |& tee log`, /in a pipe/],
    [`set -e\n${step} --json |\n  jq .`, /in a pipe/],
    [`node_modules/.bin/rungate run wait "$id" \\\n  --json | tee log`, /in a pipe/],
    [`${step} || true`, /^\|\| after/],
    [`${step} 2>&1 | tee log || :`, /^\|\| after/],
    [`${step} || exit 0`, /^\|\| after/],
    [`${step} || echo "red, but well"`, /^\|\| after/],
    [`${step} &\nwait`, /in the background/],
    [`${step} > log 2>&1 & echo on`, /in the background/],
    [`if ! ${step}; then echo failed; fi`, /^if takes/],
    [`if ${step}; then deploy; fi`, /^if takes/],
    [`until ${step}; do sleep 1; done`, /until the gate is green/],
    ['rungate run status "$id" --json', /run status ends with 0/],
    [`set +e\n${step}\nexit 0`, /after set \+e/],
    [`${step}; echo done`, /what comes after/],
    [`${step}\necho done\n`, /what comes after/],
    [`trap 'rm -f log; exit 0' EXIT\n${step}`, /the trap/],
    [`local out=$(${step})`, /local, export/],
    [`echo "$(${step})"`, /inside another command/],
    [`${step} --on failed=warn`, /--on option/],
    [`allow_failure ${step}`, /continues on errors/],
    ['make gate', /lost on the way/],
    ['', /lost on the way/],
  ])('%j', (script, cause) => {
    expect(hint('green for red', script)).toMatch(cause);
  });

  it.each([
    [`set -eo pipefail\n${step} | tee log`, /in a pipe/],
    [`set -o errexit -o pipefail\n${step} | tee log`, /in a pipe/],
    [`${step} | tee log\nexit "\${PIPESTATUS[0]}"`, /in a pipe/],
    [`# ${step} | tee log\n${step}`, /in a pipe/],
    [`${step} || exit 1`, /in a pipe|^\|\| after/],
    [`${step} || { echo red; exit 1; }`, /^\|\| after/],
    [`${step} 2>&1`, /background/],
    [`${step} && deploy`, /background/],
    [`${step} &\nwait "$!"`, /background/],
    [`id=$(rungate run trigger)\nrungate run wait "$id"`, /add --wait/],
  ])('%j is not taken for what it is not', (script, cause) => {
    expect(hint('green for red', script)).not.toMatch(cause);
  });

  it('a policy is the cause only of the verdict that it is for', () => {
    expect(hint('green for red', `${step} --on failed=warn; echo`, 'blocked')).not.toMatch(/--on option/);
    expect(hint('green for red', `${step} --on unobserved=warn`, 'down')).toMatch(/--on option/);
  });

  it('one code alone that is let pass', () => {
    const all = results().map((one) => ({ ...one, exitCode: one.scenario.name === 'blocked' ? 0 : 1 }));
    expect(hint('green for red', 'make gate', 'blocked', all)).toMatch(/exit code 2 pass/);
  });

  it('by what the step did: never asked, or ended too early', () => {
    expect(hint('green for red', 'make gate', 'failed', results({ runsCreated: 0 }))).toMatch(/never asked/);
    expect(hint('green for red', 'make gate', 'failed', results({ leftBehind: true }))).toMatch(
      /ended before/,
    );
  });

  it.each([
    'rungate run trigger --project a --process b',
    'rungate run trigger --project a --process b | tee log',
    'rungate run trigger --project a --process b || true',
    'if rungate run trigger --project a --process b; then deploy; fi',
    'export run=$(rungate run trigger --project a --process b)',
    'make gate',
  ])('a run whose end is never read is not waited for: %j', (script) => {
    for (const name of ['failed', 'timeout']) {
      expect(hint('green for red', script, name, results({ endsRead: 0 }))).toMatch(/does not wait.*--wait/);
    }
  });

  it('only some of several runs are waited for', () => {
    const all = results({ runsCreated: 2, endsRead: 1 });
    expect(hint('green for red', 'make gate', 'failed', all)).toMatch(/id of every run/);
  });

  it('a setting lets the verdict pass, unless the step says otherwise', () => {
    const detail = '/repo/.rungate.json';
    const on = { value: { failed: 'warn' }, origin: 'project file', detail, parts: { failed: {} } } as const;
    const policy = policyOf({ on: { ...on, parts: { failed: { origin: 'project file', detail } } } });
    const gate = 'rungate run trigger --wait';
    expect(hint('green for red', gate, 'failed', results(), policy)).toMatch(
      /a setting lets.*\(\/repo\/\.rungate\.json\)/,
    );
    expect(hint('green for red', `${gate} --on failed=fail`, 'failed', results(), policy)).not.toMatch(
      /setting/,
    );
    expect(hint('green for red', gate, 'blocked', results(), policy)).not.toMatch(/setting/);
  });
});

describe('the hint for a cancelled run that passes', () => {
  const red = results().map((one) => (one.scenario.expected === 'red' ? { ...one, exitCode: 1 } : one));
  const all = red.map((one) =>
    one.scenario.name === 'cancelled'
      ? { ...one, exitCode: 0, scenario: { ...one.scenario, expected: 'any' as const } }
      : one,
  );
  const gate = 'rungate run trigger --project a --process b --wait';

  it.each([
    [gate, /add --strict$/],
    [`${gate} --strict --on cancelled=warn`, /--on option.*take it out/],
    [`${gate} --no-strict`, /^--no-strict/],
  ])('%j', (script, cause) => {
    expect(hint('lenient', script, 'cancelled', all)).toMatch(cause);
  });

  const set: PolicySettings = {
    ...usualPolicy,
    blocked: { value: 'warn', origin: 'project file', detail: undefined },
  };
  it.each([
    ['an --on option', `${gate} --timeout 4s --on blocked=warn`, usualPolicy],
    ['a setting', gate, set],
  ])('is --strict if %s lets another verdict pass', (_what, script, policy) => {
    const lenient = all.map((one) => (one.scenario.name === 'blocked' ? { ...one, exitCode: 0 } : one));
    expect(hint('lenient', script, 'cancelled', lenient, policy)).toMatch(/add --strict$/);
    const few = lenient.filter(({ scenario: { name } }) => /passed|blocked|cancelled/.test(name));
    expect(hint('lenient', script, 'cancelled', few, policy)).toMatch(/add --strict$/);
  });

  it('is that of the other scenarios where the step loses their exit codes too', () => {
    const script = 'rungate run trigger --project a --process b';
    const lost = results({ endsRead: 0 });
    expect(hint('lenient', script, 'cancelled', lost)).toMatch(/does not wait/);
    expect(hint('lenient', `${gate} | tee log`, 'cancelled', results())).toMatch(/in a pipe/);
  });
});

describe('the likely cause of the rest', () => {
  it.each<[Symptom, string, Partial<StepResult>, RegExp]>([
    ['red for green', 'make gate', { exitCode: 127 }, /not there/],
    ['red for green', 'make gate', { exitCode: 64 }, /could not be started/],
    ['red for green', 'make gate', { exitCode: 2 }, /something else in it/],
    ['red for green', `${step} --api-url https://a.example`, { exitCode: 6, runsCreated: 0 }, /--api-url/],
    ['never asked', `RUNGATE_API_URL=https://a.example ${step}`, { runsCreated: 0 }, /by itself/],
    ['never asked', `${step} &`, { runsCreated: 0 }, /background/],
    ['never asked', '', { runsCreated: 0 }, /never asked/],
    ['red for green', `! ${step}`, { exitCode: 1 }, /^! turns/],
    [
      'red for green',
      'rungate run trigger --strict',
      { exitCode: 64, runsCreated: 0, output: 'error: no effect without --wait: --strict' },
      /does not wait for the run: add --wait/,
    ],
    ['asked again', `${step}\n${step}`, { runsCreated: 2, endsRead: 2 }, /is it meant to/],
    ['did not end', `while ! ${step}; do :; done`, { stopped: true }, /loop/],
    ['did not end', step, { stopped: true }, /--time-limit/],
  ])('%s, %j, %j', (symptom, script, changes, cause) => {
    expect(hint(symptom, script, 'passed', results(changes))).toMatch(cause);
  });
});

it('a script of one endless line is looked at in no time', () => {
  hint('green for red', `${'export a=$( if rungate_ '.repeat(3000)}\n${step} | tee log`);
});

it('a judgement depends on nothing but what it is given, and is wrong for every red that is green', () => {
  const judged = judge(step, usualPolicy, results());
  expect(judged).toEqual(judge(step, usualPolicy, results()));
  expect(judged.filter(({ ok }) => ok).map(({ result }) => result.scenario.name)).toEqual(['passed']);
});
