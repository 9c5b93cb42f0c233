import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scenarios } from '../../src/commands/selftest/scenarios.ts';
import { type Ended, type Running, root, rungate } from '../e2e/built.ts';
import { folderForFile } from '../folders.ts';
import { until } from '../until.ts';

const fixtures = join(root, 'fixtures/selftest');
const scripts = (kind: string) => readdirSync(join(fixtures, kind)).filter((file) => file.endsWith('.sh'));

/** A folder only for these tests, which check the files that selftest leaves there. */
const temporary = folderForFile();

const selftest = (args: readonly string[], env: Record<string, string> = {}): Running =>
  rungate(['selftest', ...args], { TMPDIR: temporary, ...env });

interface Report {
  ok: boolean;
  scenarios: { name: string; exitCode: number; ok: boolean; runsCreated: number; hint: string | null }[];
}

const report = ({ out }: Ended) => JSON.parse(out) as Report;

const allFailing = ['failed', 'blocked', 'cancelled', 'timeout', 'refused', 'down', 'broken', 'lost'];
/** For each wrong step, the scenarios in which it is wrong, and the hint. */
const wrong: Record<string, { in: readonly string[]; hint: RegExp }> = {
  'always-red': { in: ['passed'], hint: /fails although the gate passes/ },
  background: { in: allFailing, hint: /in the background/ },
  'case-lets-blocked-pass': { in: ['blocked'], hint: /exit code of the gate is lost/ },
  'gate-skipped': { in: ['passed', ...allFailing], hint: /without starting a run/ },
  'ignored-exit-code': { in: allFailing, hint: /exit code of the gate is lost/ },
  'one-slice': { in: ['passed'], hint: /waits for one slice only/ },
  'or-true': { in: allFailing, hint: /"\|\|" after the gate/ },
  'policy-lets-failures-pass': { in: ['failed'], hint: /--on option/ },
  'retry-until-green': { in: allFailing, hint: /another run after a failed one|instead of a loop/ },
  'tee-without-pipefail': { in: allFailing, hint: /set -o pipefail/ },
  'without-wait': { in: ['failed', 'blocked', 'timeout', 'broken'], hint: /does not wait for every run/ },
  'own-poll-without-verdict': {
    in: ['failed', 'blocked', 'timeout', 'broken'],
    hint: /exit code of the gate is lost/,
  },
  'waits-for-one-of-two': {
    in: ['failed', 'blocked', 'cancelled', 'timeout'],
    hint: /does not wait for every run/,
  },
  'turned-round': { in: ['passed', ...allFailing], hint: /fails although the gate passes/ },
  'another-run-after-red': { in: ['failed', 'blocked', 'cancelled'], hint: /another run after a failed one/ },
  'left-behind': {
    in: ['failed', 'blocked', 'timeout', 'refused', 'down', 'broken', 'lost'],
    hint: /in the background/,
  },
  'too-slow': { in: ['passed', ...allFailing], hint: /raise --time-limit/ },
  'red-after-green': { in: ['passed'], hint: /fails although the gate passes/ },
  'lost-in-a-function': { in: allFailing, hint: /exit code of the gate is lost:/ },
};

/** The steps that do not end by themselves. */
const endless = ['retry-until-green', 'too-slow'];

/** The scenarios that tell the steps apart. All of them take a minute of processor time for the steps of this test. */
const shown: readonly string[] = ['passed', 'failed', 'cancelled', 'down'];
const only = (names: readonly string[]) => names.flatMap((name) => ['--scenario', name]);

describe.concurrent('selftest detects a wrong pipeline step', () => {
  it('for each fixture', ({ expect }) => {
    expect(
      scripts('wrong')
        .map((file) => basename(file, '.sh'))
        .toSorted(),
    ).toEqual(Object.keys(wrong).toSorted());
  });

  it.each(Object.entries(wrong))('%s', async (name, expected) => {
    // A limit only for the steps that never end, and there only scenarios that reach it on every machine.
    const isEndless = endless.includes(name);
    const limit = isEndless ? ['--time-limit', '8s'] : [];
    const script = join(fixtures, 'wrong', `${name}.sh`);
    const tried = scenarios
      .map((one): string => one.name)
      .filter(
        (one) => (shown.includes(one) && (!isEndless || expected.in.includes(one))) || one === expected.in[0],
      );
    const ended = await selftest(['--json', '--parallel', '4', ...limit, ...only(tried), '--', script]).ended;
    expect(ended.code).toBe(1);
    const { ok, scenarios: ran } = report(ended);
    expect(ok).toBe(false);
    const found = ran.filter((scenario) => !scenario.ok);
    // The step does not wait for these gates, so whether one of its gates passes depends on timing.
    const races = ['background', 'left-behind'].includes(name);
    const names = found.map((scenario) => scenario.name).filter((one) => !races || one !== 'passed');
    expect(names).toEqual(expected.in.filter((one) => tried.includes(one)));
    expect(found[0]?.hint).toMatch(expected.hint);
    expect(ended.err).toMatch(expected.hint);
  });
});

/** How many runs a right step creates in each scenario. */
const created: readonly (readonly [string, number])[] = [
  ['passed', 1],
  ['failed', 1],
  ['blocked', 1],
  ['cancelled', 1],
  ['timeout', 1],
  ['refused', 0],
  ['down', 0],
  ['broken', 1],
  ['lost', 1],
];

describe.concurrent('selftest accepts a correct pipeline step', () => {
  it.each(scripts('right'))('%s', async (file) => {
    const tried = ['case-on-code.sh', 'exec.sh'].includes(file)
      ? created
      : created.filter(([name]) => shown.includes(name));
    const flags = ['--json', '--parallel', '4', ...only(tried.map(([name]) => name))];
    const ended = await selftest([...flags, '--', join(fixtures, 'right', file)]).ended;
    expect(ended.err).not.toMatch(/WRONG/);
    expect(ended.code).toBe(0);
    const { ok, scenarios } = report(ended);
    expect(ok).toBe(true);
    expect(scenarios.map(({ name, runsCreated }) => [name, runsCreated])).toEqual(tried);
  });
});

describe('selftest', () => {
  const processes = (mark: string) =>
    spawnSync('ps', ['-eo', 'stat,args'], { encoding: 'utf8' })
      .stdout.split('\n')
      .filter((line) => line.includes(mark) && !line.startsWith('Z'));

  it.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)('stops the step and its child processes on %s', async (signal, code) => {
    const seconds = `${signal === 'SIGINT' ? 7711 : 7712}`;
    const before = readdirSync(temporary);
    const step = ['bash', '-c', `trap '' TERM INT; sleep ${seconds} & sleep ${seconds}; sleep ${seconds}`];
    const running = selftest(['--', ...step]);
    await until(() => processes(`sleep ${seconds}`).length > 2);
    running.child.kill(signal);
    const ended = await running.ended;
    expect(ended).toMatchObject({ code, out: '' });
    expect(processes(`sleep ${seconds}`)).toEqual([]);
    expect(readdirSync(temporary)).toEqual(before);
  });

  it('leaves no process behind after a second signal', async () => {
    const before = readdirSync(temporary);
    const running = selftest(['--', 'bash', '-c', "trap '' TERM; sleep 7713; sleep 7713; sleep 7713"]);
    await until(() => processes('sleep 7713').length > 1);
    running.child.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 100));
    running.child.kill('SIGINT');
    expect((await running.ended).code).toBe(130);
    await until(() => processes('sleep 7713').length === 0);
    expect(readdirSync(temporary)).toEqual(before);
  });

  it('stops child processes that outlive the step, and does not wait for them', async () => {
    const step = ['bash', '-c', 'sleep 7714 & exit 3'];
    const ended = await selftest(['--json', '--scenario', 'failed', '--', ...step]).ended;
    expect(report(ended).scenarios).toMatchObject([{ exitCode: 3, ok: true }]);
    expect(processes('sleep 7714')).toEqual([]);
  });
});
