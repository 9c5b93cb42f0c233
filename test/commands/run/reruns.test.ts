import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseJournal, runsOf } from '../../../src/ci/journal.ts';
import type { Outcome } from '../../../src/mock/runs.ts';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { fixtures } from '../../ci/provider-fixtures.ts';
import { asked, type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { until } from '../../until.ts';

describe('re-runs', () => {
  let on: Stage;
  let folders: string[] = [];

  afterEach(async () => {
    await on.close();
    for (const folder of folders) rmSync(folder, { recursive: true, force: true });
    folders = [];
  });

  /** Returns an empty temporary folder, as each job of a hosted runner has. */
  function temp(): string {
    const folder = mkdtempSync(join(tmpdir(), 'rungate-job-'));
    folders.push(folder);
    return folder;
  }

  const runs = () => [...on.mock.state.runs.values()];
  const serve = async (options: MockOptions = {}) => {
    on = await stage({ duration: 20_000, ...options });
  };

  interface Place {
    attempt?: number;
    job?: string;
    step?: string;
    runId?: string;
    folder?: string;
  }

  /** Returns the variables of GitHub Actions for one step of a job or its re-run. */
  function github({ attempt = 1, job = 'e2e', step = '__run', runId = '4711', folder = temp() }: Place = {}) {
    const env = {
      GITHUB_ACTIONS: 'true',
      CI: 'true',
      GITHUB_REPOSITORY: 'acme/shop',
      GITHUB_RUN_ID: runId,
      GITHUB_RUN_ATTEMPT: String(attempt),
      GITHUB_JOB: job,
      GITHUB_ACTION: step,
      GITHUB_SERVER_URL: 'https://github.com',
      GITHUB_SHA: 'a'.repeat(40),
      GITHUB_REF: 'refs/heads/main',
      GITHUB_REF_NAME: 'main',
      GITHUB_REF_TYPE: 'branch',
      GITHUB_EVENT_NAME: 'push',
      GITHUB_WORKFLOW: 'ci',
      RUNNER_TEMP: folder,
    };
    return on.with({ env });
  }

  /** Returns the variables of GitLab, which numbers jobs but does not count attempts. */
  function gitlab(jobId: string) {
    const env = {
      GITLAB_CI: 'true',
      CI: 'true',
      CI_PROJECT_PATH: 'acme/shop',
      CI_PIPELINE_ID: '900',
      CI_PIPELINE_URL: 'https://gitlab.example/acme/shop/-/pipelines/900',
      CI_PIPELINE_SOURCE: 'push',
      CI_JOB_NAME: 'e2e',
      CI_JOB_ID: jobId,
      CI_COMMIT_SHA: 'b'.repeat(40),
      CI_COMMIT_REF_NAME: 'main',
      TMPDIR: temp(),
    };
    return on.with({ env });
  }

  const gate = [...trigger, '--wait', '--json'] as const;

  async function report(run: Promise<{ code: number; out: string }>) {
    const { code, out } = await run;
    return { code, run: JSON.parse(out).runs[0] };
  }

  describe('a re-run job', () => {
    beforeEach(() => serve({ outcome: ['stuck', 'passed'] }));

    it('attaches to its run while that is in progress', async () => {
      // Attempt 1 times out and leaves its run going.
      await github({ attempt: 1 })(...gate, '--max-attempts', '1');
      const second = await report(github({ attempt: 2 })(...gate, '--max-attempts', '1'));
      expect(runs()).toHaveLength(1);
      expect(second.run).toMatchObject({ runId: runs()[0]?.id, reattached: true });
    });

    it.each(['failed', 'passed', 'cancelled', 'blocked'] as const)(
      'never uses a run that has ended as %s',
      async (outcome) => {
        on.mock.state.plan.outcomes = [outcome, 'failed'];
        const first = await report(github({ attempt: 1 })(...gate));
        const second = await report(github({ attempt: 2 })(...gate));
        expect(runs()).toHaveLength(2);
        expect(second.run.runId).not.toBe(first.run.runId);
        expect(second).toMatchObject({ code: 1, run: { reattached: false } });
        const third = await report(github({ attempt: 3 })(...gate));
        expect(runs()).toHaveLength(3);
        expect(third.run.reattached).toBe(false);
      },
    );
  });

  describe('one job', () => {
    it('starts two runs if it gates twice: test, deploy, test', async () => {
      await serve({ outcome: ['passed', 'failed'] });
      const folder = temp();
      expect((await github({ folder })(...gate)).code).toBe(0);
      expect((await github({ folder })(...gate)).code).toBe(1);
      expect(runs()).toHaveLength(2);
    });

    it('starts a new run after a failure and attaches after a timeout, in a retry loop within a step', async () => {
      await serve({ outcome: ['failed', 'stuck', 'passed'] });
      const folder = temp();
      expect((await github({ folder })(...gate)).code).toBe(1);
      expect((await github({ folder })(...gate, '--max-attempts', '2')).code).toBe(3);
      const third = await report(github({ folder })(...gate, '--max-attempts', '2'));
      expect(third).toMatchObject({ code: 3, run: { reattached: true } });
      expect(runs()).toHaveLength(2);
    });

    it('starts another run for another job, step, pipeline, body or salt', async () => {
      await serve({ outcome: 'stuck' });
      const flags = ['--max-attempts', '1'];
      await github()(...gate, ...flags);
      await github({ job: 'smoke' })(...gate, ...flags);
      await github({ step: '__run_2' })(...gate, ...flags);
      await github({ runId: '4712' })(...gate, ...flags);
      await github()(...gate, ...flags, '--environment', 'staging');
      await github()(...gate, ...flags, '--idempotency-salt', 'node-20');
      await github()(...gate, ...flags, '--idempotency-salt', 'node-22');
      await gitlab('1')(...gate, ...flags);
      expect(runs()).toHaveLength(8);
    });
  });

  describe('in CI that numbers jobs and not re-runs, a re-run job', () => {
    it('attaches to its run while that is in progress', async () => {
      await serve({ outcome: 'stuck' });
      await gitlab('5001')(...gate, '--max-attempts', '1');
      const retried = await report(gitlab('5002')(...gate, '--max-attempts', '1'));
      expect(runs()).toHaveLength(1);
      expect(retried.run.reattached).toBe(true);
    });
  });

  describe('in a copy of a CI system on one machine, the same command', () => {
    const act = {
      ...{ ACT: 'true', CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_JOB: 'e2e', GITHUB_ACTION: '0' },
      ...{ GITHUB_RUN_ID: '1', GITHUB_RUN_ATTEMPT: '1', GITHUB_REPOSITORY: 'acme/shop' },
    };
    const gitlabCiLocal = {
      ...{ CI: 'true', GITLAB_CI: 'false', CI_PROJECT_PATH: 'acme/shop', CI_JOB_NAME: 'e2e' },
      ...{ CI_PIPELINE_ID: '1000', CI_JOB_ID: '1000' },
    };
    const circleci = {
      ...{ CI: 'true', CIRCLECI: 'true', CIRCLE_JOB: 'e2e', CIRCLE_BUILD_NUM: '' },
      ...{ CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '1', CIRCLE_SHA1: 'a'.repeat(40) },
    };

    it.each([
      ['nektos/act', act],
      ['gitlab-ci-local', gitlabCiLocal],
      ['circleci local execute', circleci],
    ])(
      'starts its own run, since the run of the last command may have tested other code: %s',
      async (_, env) => {
        await serve({ outcome: ['passed', 'failed'] });
        const command = on.with({ env: { ...env, RUNNER_TEMP: temp() } });
        expect((await command(...gate, '--max-attempts', '1')).code).toBe(3);
        expect((await command(...gate)).code).toBe(1);
        expect(runs()).toHaveLength(2);
      },
    );

    it('joins its run on the runners of Gitea and Forgejo, which also set ACT but have real ids', async () => {
      await serve({ outcome: ['passed', 'failed'] });
      const env = { ...act, GITEA_ACTIONS: 'true', GITHUB_RUN_ID: '120', GITHUB_RUN_ATTEMPT: '' };
      const command = on.with({ env: { ...env, RUNNER_TEMP: temp() } });
      expect((await command(...gate, '--max-attempts', '1')).code).toBe(3);
      expect((await command(...gate)).code).toBe(0);
      expect(runs()).toHaveLength(1);
    });
  });

  describe('if the first read of a run fails', () => {
    const faults: Fault = { kind: 'status', status: 500, endpoint: 'run.status', times: 99 };

    it.each([
      ['with --wait', [...gate, '--max-attempts', '4']],
      ['without --wait', [...trigger, '--json']],
    ])('the command fails %s, since the run may be an old one', async (_name, argv) => {
      await serve({ outcome: 'passed', duration: 0 });
      await github({ attempt: 1 })(...gate);
      on.mock.faults.add(faults);
      expect((await github({ attempt: 2 })(...argv)).code).toBe(5);
      expect(runs()).toHaveLength(1);
    });
  });

  describe('a run that was found, but whose state is unclear at first', () => {
    const unclear: [string, Fault][] = [
      ['an unknown state', { kind: 'patch', merge: { state: 'defrosting' }, endpoint: 'run.status' }],
      ['no state', { kind: 'reply', text: '{}', endpoint: 'run.status' }],
      ['a 404 that passes', { kind: 'status', status: 404, endpoint: 'run.status' }],
    ];

    it.each(unclear)('is read again, and never used if it had ended: %s', async (_name, fault) => {
      await serve({ outcome: ['passed', 'failed'], duration: 1000 });
      expect((await github({ attempt: 1 })(...gate)).code).toBe(0);
      on.mock.faults.add({ ...fault, times: 3 });
      expect((await github({ attempt: 2 })(...gate)).code).toBe(1);
      expect(runs()).toHaveLength(2);
    });
  });

  describe('--explain-key', () => {
    it('prints the ingredients in CI, without secrets', async () => {
      await serve({ outcome: 'stuck' });
      const { err, out } = await github({ attempt: 2 })(
        ...trigger,
        '--explain-key',
        '--idempotency-salt',
        'cell 1',
      );
      for (const part of [
        'github',
        're-run 1 of the job',
        'runId: 4711',
        'job: e2e',
        'salt: cell 1',
        'first ',
        'then up to 2 more, each a hash of the previous key',
        'finally ',
        'journal:',
      ]) {
        expect(err).toContain(part);
      }
      expect(err + out).not.toContain(on.mock.apiKey);
    });
  });

  it('sends the cause and the job with a cancellation', async () => {
    await serve({ outcome: 'stuck' });
    await github()(...gate, '--timeout', '30s', '--cancel-on-timeout');
    expect(runs()[0]?.cancelled?.reason).toBe(
      'rungate: the wait timed out in github job e2e https://github.com/acme/shop/actions/runs/4711',
    );
  });
});

describe('retries', () => {
  let on: Stage;
  let folder: string;

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'rungate-retries-'));
    on = await stage({ duration: 20_000 });
  });
  afterEach(async () => {
    await on.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const runs = () => [...on.mock.state.runs.values()];
  const gate = [...trigger, '--wait', '--json', '--timeout', '10m'] as const;

  async function gateWith(outcomes: Outcome[], ...args: string[]) {
    on.mock.state.plan.outcomes = outcomes;
    const { code, out, err } = await on.rungate(...gate, ...args);
    return { code, err, report: out === '' ? null : JSON.parse(out) };
  }

  const verdictsOf = (report: { runs: { verdict: string }[] }) => report.runs.map(({ verdict }) => verdict);
  const deciding = (report: { runs: { decides?: boolean }[] }) => report.runs.filter((run) => run.decides);

  describe('--retries', () => {
    it('starts a new run after a failed one, and makes a pass flaky: a warning that exits 0', async () => {
      const { code, err, report } = await gateWith(['failed', 'passed'], '--retries', '2');
      expect(code).toBe(0);
      expect(report).toMatchObject({
        schemaVersion: 1,
        result: 'warn',
        exitCode: 0,
        runs: [
          { verdict: 'failed', action: 'fail', runId: runs()[0]?.id, failed: 2, decides: false },
          { verdict: 'flaky', action: 'warn', runId: runs()[1]?.id, retry: 1, failed: 0, decides: true },
        ],
      });
      expect(report.runs[0]).not.toHaveProperty('retry');
      expect(runs()).toHaveLength(2);
      expect(err).toContain(`run ${runs()[0]?.id} failed (2 failed, 0 blocked): starting retry 1 of 2\n`);
      expect(err).toContain('WARNING: ');
      expect(err).toContain('passed only on retry 1, after a failed run: 0 failed, 0 blocked');
      expect(err).toContain('--on flaky=fail makes it fail');
    });

    it('fails after the last retry, with every run in the result', async () => {
      const { code, report } = await gateWith(['failed', 'failed', 'failed', 'passed'], '--retries', '2');
      expect(code).toBe(1);
      expect(report).toMatchObject({ result: 'fail', runs: [{}, {}, { retry: 2, decides: true }] });
      expect(verdictsOf(report)).toEqual(['failed', 'failed', 'failed']);
      expect(runs()).toHaveLength(3);
    });

    it.each([
      ['blocked', 2, 'blocked'],
      ['cancelled', 0, 'cancelled'],
      ['stuck', 3, 'timeout'],
    ] as const)('does not retry a run that ends as %s', async (outcome, code, verdict) => {
      const result = await gateWith([outcome, 'passed'], '--retries', '2');
      expect(result).toMatchObject({ code, report: { runs: [{ verdict }] } });
      expect(runs()).toHaveLength(1);
    });

    it.each([
      ['cancelled', 'cancelled=pass', 1],
      ['stuck', 'timeout=warn', 1],
      ['blocked', 'blocked=pass', 1],
    ] as const)(
      'never lets a failed run pass because its retry ends as %s with --on %s',
      async (second, rule, code) => {
        const result = await gateWith(['failed', second], '--retries', '3', '--on', rule);
        expect(result).toMatchObject({ code, report: { result: 'fail', runs: [{}, {}] } });
        expect(deciding(result.report)).toMatchObject([{ verdict: 'failed' }]);
      },
    );

    it('cancels the run of a retry when a signal comes', async () => {
      on.mock.state.plan.outcomes = ['failed', 'stuck'];
      const stopsWhen = () => runs().length === 2;
      const { code, out } = await on.with({ stopsWhen })(...gate, '--retries', '1');
      expect(code).toBe(143);
      const report = JSON.parse(out);
      expect(report).toMatchObject({
        interruptedBy: 'SIGTERM',
        cancellation: 'requested',
        runs: [{ decides: false }, { runId: runs()[1]?.id, retry: 1, decides: true }],
      });
      expect(verdictsOf(report)).toEqual(['failed', null]);
      expect(on.mock.requests.filter(({ endpoint }) => endpoint === 'run.cancel')).toHaveLength(1);
    });
  });

  describe('retries that cannot work', () => {
    it.each([
      [
        ['--retries', '1', '--idempotency-key', 'mine'],
        'retries cannot be combined with a given idempotency key',
      ],
      [['--retries', '-1'], 'is not a whole number from 0 to 10'],
      [['--retries', '11'], 'is not a whole number from 0 to 10'],
      [['--retries', 'many'], 'is not a whole number from 0 to 10'],
    ])('%j are a usage error, and nothing is sent', async (args, message) => {
      const { code, err } = await on.rungate(...gate, ...args);
      expect(code).toBe(64);
      expect(err).toContain(message);
      expect(on.mock.requests).toEqual([]);
    });
  });

  /** Returns a job of GitHub Actions with an empty temporary folder, unless `temp` names one. */
  function github(attempt: number, temp = mkdtempSync(join(folder, 'job-'))) {
    return on.with({
      env: {
        GITHUB_ACTIONS: 'true',
        CI: 'true',
        GITHUB_REPOSITORY: 'acme/shop',
        GITHUB_RUN_ID: '4711',
        GITHUB_RUN_ATTEMPT: String(attempt),
        GITHUB_JOB: 'e2e',
        GITHUB_ACTION: '__run',
        RUNNER_TEMP: temp,
      },
    });
  }

  async function jobWith(job: ReturnType<typeof github>, ...args: string[]) {
    const { code, out } = await job(...gate, '--retries', '1', ...args);
    return { code, report: JSON.parse(out) };
  }

  describe('a re-run job with retries', () => {
    it('attaches to the retry in progress, and starts no extra run', async () => {
      on.mock.state.plan.outcomes = ['failed', 'stuck', 'passed'];
      await jobWith(github(1), '--max-attempts', '4');
      on.mock.state.plan.outcomes = ['passed'];
      const second = await jobWith(github(2), '--max-attempts', '1');
      expect(runs()).toHaveLength(2);
      expect(second.report.runs).toMatchObject([
        { runId: runs()[1]?.id, verdict: 'timeout', reattached: true },
      ]);
      expect(second.report.discarded).toMatchObject([{ runId: runs()[0]?.id, verdict: 'failed' }]);
      expect(second.code).toBe(3);
    });

    it('leaves every run in the journal, so that the post step can cancel the one in progress', async () => {
      on.mock.state.plan.outcomes = ['failed', 'stuck'];
      const path = join(folder, 'journal');
      await on.with({ journal: path })(...gate, '--retries', '1', '--max-attempts', '4');
      const [first, second] = runsOf(parseJournal(readFileSync(path, 'utf8')) ?? []);
      expect(first).toMatchObject({ runId: runs()[0]?.id, settled: true });
      expect(second).toMatchObject({ runId: runs()[1]?.id, settled: false });
    });
  });
});

describe('keys that several jobs share', () => {
  let on: Stage;
  const folder = mkdtempSync(join(tmpdir(), 'rungate-shared-'));
  afterEach(async () => {
    await on.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const serve = async (options: MockOptions = {}) => {
    on = await stage({ duration: 20_000, ...options });
  };
  const runIds = () => [...on.mock.state.runs.keys()];
  const gate = [...trigger, '--wait', '--json'] as const;

  /** Returns the variables that the CI sets without a re-run. */
  const envOf = (place: string): Record<string, string> => {
    const found = fixtures.find(({ expected, ...one }) => {
      return one.place === place && expected.runId !== null && expected.attempt === 1;
    });
    if (found === undefined) throw new Error(`no environment without a re-run of ${place}`);
    return found.env;
  };

  let jobs = 0;
  /** Runs a job on its own machine: it shares the derived key with the other jobs, but not the journal. */
  const job = (place: string) => {
    jobs += 1;
    return on.with({ env: envOf(place), journal: join(folder, `${jobs}.journal`) });
  };

  /** The service does not send Idempotency-Replayed. */
  const silent: Fault = {
    kind: 'patch',
    remove: ['idempotency-replayed'],
    endpoint: 'run.trigger',
    times: 20,
  };
  const lost: Fault = { kind: 'reset-after-commit', endpoint: 'run.trigger' };

  describe.each(['github', 'azure', 'buildkite'])('two jobs with one derived key (%s)', (place) => {
    it.each<[string, readonly Fault[]]>([
      ['the service says that it replayed', []],
      ['the create response is lost', [lost]],
      ['the service does not say that it replayed', [silent]],
      ['the create response is lost and the service does not say that it replayed', [lost, silent]],
    ])('never share a run that has ended: %s', async (_name, faults) => {
      await serve({ outcome: ['passed', 'failed'] });
      expect((await job(place)(...gate)).code).toBe(0);
      for (const fault of faults) on.mock.faults.add(fault);
      const second = await job(place)(...gate);
      const [first, own] = runIds();
      expect(second.code).toBe(1);
      const report = JSON.parse(second.out);
      expect(report.runs).toMatchObject([{ runId: own, reattached: false }]);
      expect(report.discarded).toEqual([
        {
          runId: first,
          appUrl: expect.stringContaining(String(first)),
          idempotencyKey: expect.any(String),
          verdict: 'passed',
          reason: expect.stringContaining('give each such job its own --idempotency-salt'),
        },
      ]);
      expect(report.discarded[0].idempotencyKey).not.toBe(report.runs[0].idempotencyKey);
      expect(second.err).toContain(
        `discarded run ${first} (passed): it had already ended at its first status read, and another job with`,
      );
      expect(runIds()).toHaveLength(2);
    });
  });

  describe('a run of a derived key', () => {
    it.each<[string, readonly Fault[], number]>([
      ['is discarded if it has ended at its first read', [{ ...silent, times: 9 }], 3],
      ['is kept, ended or not, if the service says that it did not replay', [], 1],
    ])('%s', async (_name, faults, made) => {
      await serve({ outcome: 'passed', duration: 0 });
      for (const fault of faults) on.mock.faults.add(fault);
      expect((await job('github')(...gate)).code).toBe(0);
      expect(runIds()).toHaveLength(made);
    });

    it('is kept without --wait if it failed, so that run wait fails', async () => {
      await serve({ outcome: ['failed', 'passed'], duration: 0 });
      on.mock.faults.add(silent);
      const { code, out } = await job('github')(...trigger);
      expect([code, runIds()]).toEqual([0, [out.trim()]]);
      expect((await job('github')('run', 'wait', out.trim())).code).toBe(1);
    });

    it('is not used if a service that ignores the keys returns the discarded run again', async () => {
      await serve({ outcome: 'passed' });
      const first = JSON.parse((await job('github')(...gate)).out).runs[0].runId;
      const text = JSON.stringify({ runId: first });
      on.mock.faults.add({ kind: 'reply', text, endpoint: 'run.trigger', times: 9 });
      const before = asked(on.mock).length;
      const { code, out, err } = await job('github')(...gate);
      expect([code, out]).toEqual([5, '']);
      expect(err).toContain('for every idempotency key');
      // A later read may be stale.
      expect(
        asked(on.mock)
          .slice(before)
          .filter((endpoint) => endpoint === 'run.status'),
      ).toHaveLength(1);
    });
  });

  describe('run trigger without --wait, for a run that another job may have started', () => {
    const again = async (fault: Fault, onStop: Settings['onStop'] = () => {}) => {
      await serve({ outcome: 'passed', duration: 600_000 });
      await job('github')(...trigger, '--no-wait');
      on.mock.faults.add(fault);
      return on.with({ env: envOf('github'), journal: join(folder, 'again.journal'), onStop })(
        ...trigger,
        '--no-wait',
        '--json',
      );
    };

    it('fails if its status never comes', async () => {
      const { code, err } = await again({ kind: 'black-hole', endpoint: 'run.status', times: 99 });
      expect([code, err]).toEqual([7, expect.stringContaining('could not tell within 1 min')]);
    });

    it('prints it if a signal comes during the first read, and cancels nothing', async () => {
      const { code, out } = await again({ kind: 'black-hole', endpoint: 'run.status' }, (stop) => {
        void until(() => on.mock.faults.pending === 0).then(() => stop('SIGTERM'));
      });
      expect([code, JSON.parse(out).runId]).toEqual([143, runIds()[0]]);
      expect(asked(on.mock)).not.toContain('run.cancel');
    });
  });
});
