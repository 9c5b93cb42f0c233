import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { MockOptions } from '../../../src/mock/server.ts';
import { githubCommand, githubFile, gitlabVariables, linesOf } from '../../ci/reports/readers.ts';
import { type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { commit, sealed, statement, trusted } from '../../receipt/table.ts';

describe('reports', () => {
  let on: Stage;
  afterEach(() => on?.close());

  const reports = ['--junit', 'junit.xml', '--report', 'gate.json', '--report', 'gate.env'] as const;

  /** Runs a gate over one run. Returns its result and its files. */
  async function gate(options: MockOptions, flags: readonly string[] = [], settings: Settings = {}) {
    on = await stage({ duration: 25_000, ...options });
    const files: Record<string, string> = {};
    const result = await on.with({ files, ...settings })(...trigger, '--wait', '--json', ...flags);
    return { ...result, files };
  }

  const github = { GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: '/gh/output', GITHUB_STEP_SUMMARY: '/gh/summary' };
  const commandsIn = (err: string) =>
    linesOf(err)
      .map(githubCommand)
      .filter((command) => command !== null);

  describe('the requested reports', () => {
    it.each([
      ['passed', [], 0, 'pass', 'passed', null],
      ['failed', [], 1, 'fail', 'failed', 'failure'],
      ['blocked', [], 2, 'fail', 'blocked', 'failure'],
      ['stuck', [], 3, 'fail', 'timeout', 'error'],
      ['cancelled', [], 0, 'warn', 'cancelled', 'skipped'],
      ['cancelled', ['--strict'], 4, 'fail', 'cancelled', 'failure'],
      ['failed', ['--on', 'failed=pass'], 0, 'pass', 'failed', 'failure'],
    ] as const)(
      'agree with the exit code of a run that %s, with %j',
      async (outcome, flags, code, action, verdict, element) => {
        const { files, ...result } = await gate({ outcome }, [...reports, ...flags]);
        expect(result.code).toBe(code);
        expect(files['gate.json']).toBe(result.out);
        expect(JSON.parse(files['gate.json'] ?? '')).toMatchObject({ result: action, exitCode: code });
        expect(/<(failure|error|skipped) /.exec(files['junit.xml'] ?? '')?.[1] ?? null).toBe(element);
        expect(files['junit.xml']).toContain('classname="shop.checkout"');
        const variables = Object.fromEntries(gitlabVariables(files['gate.env'] ?? ''));
        expect(variables).toMatchObject({
          RUNGATE_RESULT: action,
          RUNGATE_EXIT_CODE: String(code),
          RUNGATE_VERDICT: verdict,
        });
        expect(Object.keys(files).sort()).toEqual(['gate.env', 'gate.json', 'junit.xml']);
      },
    );
  });

  describe('a report that cannot be written', () => {
    it('fails a passing gate with 78 and an error', async () => {
      const { code, err, out, files } = await gate({ outcome: 'passed' }, [...reports, '-q'], {
        unwritable: ['junit.xml'],
        env: github,
      });
      expect(code).toBe(78);
      expect(Object.fromEntries(githubFile(files['/gh/output'] ?? ''))['exit-code']).toBe('78');
      expect(err).toMatch(
        /error: the report junit\.xml could not be written: EACCES.*\n {2}→ name a file that/,
      );
      expect(files['gate.json']).toBe(out);
    });

    it.each([
      [['--junit', 'junit.xml'], 'report junit.xml'],
      [['--report', 'gate.md', '--report', 'gate.json'], 'report gate.json'],
      [['--receipt', 'receipt.json', '--commit-sha', 'a'.repeat(40)], 'receipt receipt.json'],
    ])('is refused before the run is created if it is read-only: %j', async (flags, what) => {
      const result = await gate({}, flags, { readOnly: ['junit.xml', 'gate.json', 'receipt.json'] });
      expect(result.code).toBe(78);
      expect(JSON.parse(result.err).error).toMatchObject({
        message: expect.stringMatching(`^the ${what} cannot be written: EROFS`),
        hint: expect.stringContaining('read-only'),
      });
      expect([on.mock.requests, Object.keys(result.files)]).toEqual([[], []]);
    });
  });

  describe('refused before anything is sent', () => {
    it.each([
      [['--wait', '--junit', '-'], /need a file/],
      [['--wait', '--report', ''], /--report is empty/],
      [['--wait', '--junit', 'a/b.xml', '--report', './a/b.xml'], /the same file/],
      [['--junit', 'a.xml'], /--junit has no effect without --wait/],
      [['--report', 'a.json', '--no-ci-report'], /--report and --no-ci-report have no effect without --wait/],
    ])('%j', async (flags, message) => {
      on = await stage();
      const { code, err } = await on.rungate(...trigger, ...flags);
      expect(code).toBe(64);
      expect(err).toMatch(message);
      expect(on.mock.requests).toHaveLength(0);
    });
  });

  describe('in GitHub Actions', () => {
    it('writes outputs, summary and annotation automatically', async () => {
      const { code, out, err, files } = await gate({ outcome: 'failed' }, [], { env: github });
      const [run] = JSON.parse(out).runs;
      expect(code).toBe(1);
      expect(githubFile(files['/gh/output'] ?? '')).toEqual([
        ['run-id', run.runId],
        ['verdict', 'failed'],
        ['result', 'fail'],
        ['exit-code', '1'],
        ['failed', '2'],
        ['blocked', '0'],
        ['app-url', run.appUrl],
      ]);
      expect(files['/gh/summary']).toContain('gate failed (exit 1)');
      expect(commandsIn(err).map(({ name }) => name)).toEqual(['error']);
      expect(githubCommand(out)).toBeNull();
    });
  });

  describe('in other CI systems', () => {
    it('writes logging commands for Azure to standard error', async () => {
      const { err, out } = await gate({ outcome: 'blocked' }, [], { env: { TF_BUILD: 'True' } });
      expect(err).toMatch(/^##vso\[task\.setvariable variable=RUNGATE_VERDICT[^\]]*\]blocked$/m);
      expect(out).not.toContain('##vso');
    });

    it.each([
      [{ GITLAB_CI: 'true' }],
      [{ GITHUB_OUTPUT: '/gh/output', GITHUB_STEP_SUMMARY: '/gh/summary' }],
      [{ GITHUB_ACTIONS: 'false', TF_BUILD: '' }],
    ])('writes nothing automatically with %j', async (env) => {
      const { err, files } = await gate({ outcome: 'failed' }, [], { env });
      expect(files).toEqual({});
      expect(err).not.toMatch(/^::|##vso|##teamcity/m);
    });
  });
});

describe('names', () => {
  let on: Stage;
  afterEach(() => on?.close());

  /** Returns a command's JSON and the names of its test cases. */
  async function named(...argv: string[]) {
    const files: Record<string, string> = {};
    const reports = ['--junit', 'junit.xml', '--report', 'gate.md', '--json'];
    const { out, err } = await on.with({ files })(...argv, ...reports);
    const junit = files['junit.xml'] ?? '';
    const cases = [...junit.matchAll(/<testcase name="([^"]*)" classname="([^"]*)"/g)];
    return {
      err,
      junit,
      cases: cases.map((one) => one.slice(1)),
      summary: files['gate.md'],
      runs: JSON.parse(out).runs,
    };
  }

  it('of a run that is triggered come from its project and process', async () => {
    on = await stage({ outcome: 'failed' });
    const { runs, cases, junit, summary, err } = await named(...trigger, '--wait');
    const [{ runId }] = runs;
    expect(runs).toMatchObject([
      { name: 'shop / checkout', project: 'shop', process: 'checkout', tags: null },
    ]);
    expect(cases).toEqual([['shop / checkout', 'shop.checkout']]);
    expect(junit).toContain(`<property name="run.1.runId" value="${runId}"/>`);
    expect(summary).toContain(`| \`shop / checkout\` (\`${runId}\`) | failed |`);
    expect(summary).toContain(`- \`shop / checkout\` (run \`${runId}\`) failed: 2 failed`);
    expect(err).toContain(`✗ shop / checkout (run ${runId}) failed: 2 failed, 0 blocked`);
    expect(err.split('\n').slice(0, 3)).toEqual([
      expect.stringMatching(new RegExp(`^created run: ${runId} \\(shop / checkout\\) https://`)),
      'shop / checkout: in_progress after 0 ms (0 failed, 0 blocked)',
      expect.stringMatching(/^shop \/ checkout: completed after \d\d s \(2 failed, 0 blocked\)$/),
    ]);
  });

  it('of a run that is only waited for are its id', async () => {
    on = await stage({ outcome: 'passed' });
    const id = (await on.rungate(...trigger)).out.trim();
    const { runs, cases, summary, err } = await named('run', 'wait', id);
    expect(runs).toMatchObject([{ runId: id, name: id, project: null, process: null, tags: null }]);
    expect(cases).toEqual([[id, 'rungate']]);
    expect(summary).toContain(`| \`${id}\` | passed |`);
    expect(err).toContain(`✓ run ${id} passed`);
  });

  it.each([
    ['one name for two runs', ['a', 'b', '--name', 'x'], /--name: 1 name for 2 runs\n.*once for each run/],
    ['two names for one run', ['a', '--name', 'x', '--name', 'y'], /--name: 2 names for 1 run\n/],
    ['the same name twice', ['a', 'b', '--name', 'x', '--name', 'x'], /two runs have the same name/],
    ['an empty name', ['a', '--name', ' '], /--name is empty/],
  ])('are refused before anything is sent: %s', async (_what, argv, message) => {
    on = await stage();
    const { code, err } = await on.rungate('run', 'wait', ...argv);
    expect([code, err, on.mock.requests]).toEqual([64, expect.stringMatching(message), []]);
  });
});

describe('files of an earlier build', () => {
  let on: Stage;
  let files: Record<string, string>;
  beforeEach(async () => {
    on = await stage({ outcome: 'passed' });
    files = { '/repo/.git': '' };
  });
  afterEach(() => on.close());

  const gate = ['gate', '--project', 'shop', '--process', 'checkout', '--commit-sha', commit] as const;
  const reports = {
    'junit.xml': ['--junit', 'junit.xml'],
    'gate.json': ['--report', 'gate.json'],
    'gate.md': ['--report=gate.md'],
    'gate.env': ['--report', 'gate.env'],
    'receipt.json': ['--receipt', 'receipt.json'],
  } as const;
  const written = Object.keys(reports);
  const options = Object.values(reports).flat();

  const run = (argv: readonly string[], env: Record<string, string | undefined> = {}) =>
    on.with({ cwd: '/repo', files, env: { RUNGATE_RECEIPT_KEY: trusted.privatePem, ...env } })(...argv);
  const left = () => written.filter((path) => files[path] !== undefined);

  /** An earlier build has passed, with all reports. */
  async function earlierBuild(argv: readonly string[] = gate) {
    expect((await run([...argv, ...options])).code).toBe(0);
    expect(left()).toEqual(written);
  }

  describe('the reports and the receipt of an earlier build are gone', () => {
    it.each<[string, readonly string[], number]>([
      ['an unknown option', [...gate, '--timout', '30m', ...options], 64],
      ['a secret on the command line', [...gate, '--api-key', 'x', ...options], 64],
      ['a wrong value', [...gate, ...options, '--timeout', 'soon'], 64],
      ['an option that has no effect', ['run', 'trigger', ...gate.slice(1), ...options], 64],
      ['a global option before the command', ['--config', 'none.json', ...gate, ...options], 78],
      ['a receipt that cannot be about a commit', [...gate.slice(0, 5), ...options], 64],
      ['a slice that is over', [...gate, '--slice', '5s', '--timeout', '5m', ...options], 75],
    ])('after %s', async (_what, argv, code) => {
      await earlierBuild();
      await on.close();
      on = await stage({ outcome: 'stuck' });
      const folder = mkdtempSync(join(tmpdir(), 'slices-'));
      expect([(await run(argv, { RUNGATE_CONFIG_DIR: folder })).code, left()]).toEqual([code, []]);
    });

    it('after a bug', async () => {
      await earlierBuild();
      await on.close();
      on = await stage();
      const clock = {
        ...on.clock,
        monotonic: () => {
          throw new Error('a bug');
        },
      };
      const { code } = await on.with({ cwd: '/repo', files, clock })(...gate, ...options);
      expect([code, left()]).toEqual([70, []]);
    });

    it('of several gates', async () => {
      files['/repo/.rungate.json'] = JSON.stringify({ project: 'shop', gates: { a: { process: 'a' } } });
      await earlierBuild(['gate', '--commit-sha', commit]);
      expect((await run(['gate', '--timout', ...options])).code).toBe(64);
      expect(left()).toEqual([]);
    });

    it('even if another tool has signed the receipt', async () => {
      files['receipt.json'] = JSON.stringify(await sealed(JSON.stringify(statement)));
      await run([...gate, '--timout', ...options]);
      expect(left()).toEqual([]);
    });
  });

  describe('a file stays', () => {
    it.each<[string, readonly string[]]>([
      ['that only the help mentions', [...gate, ...options, '--help']],
      ['of a dry run', [...gate, ...options, '--dry-run']],
      ['of another command', ['receipt', 'verify', ...options]],
      ['of a command that writes none', ['run', 'cancel', 'run_1', ...options]],
      ['of a command that rungate starts', ['mock', 'exec', '--', 'true', 'gate', ...options]],
    ])('%s', async (_what, argv) => {
      await earlierBuild();
      await run(argv);
      expect(left()).toEqual(written);
    });

    it.each([
      ['junit.xml', '<?xml version="1.0"?>\n<testsuites>\n  <testsuite name="vitest"/>\n</testsuites>\n'],
      ['gate.json', '{ "schemaVersion": 1, "name": "shop" }'],
      ['gate.md', '# Summary\n\n### ✅ rungate: gate passed\n'],
      ['gate.env', 'RUNGATE_RESULT=pass\nVERSION=1\n'],
      ['gate.env', ''],
      [
        'receipt.json',
        JSON.stringify({ ...statement, predicateType: 'https://slsa.dev/provenance/v1', predicate: {} }),
      ],
      ['receipt.json', '{"payload":"e30=","payloadType":"application/vnd.in-toto+json","signatures":[]}'],
      ['receipt.json', trusted.privatePem],
    ])('that rungate has not written alone: %s with %j', async (path, content) => {
      files[path] = content;
      expect((await run([...gate, '--timout', ...options])).code).toBe(64);
      expect(files[path]).toBe(content);
    });

    it.each(['GITHUB_STEP_SUMMARY', 'GITHUB_OUTPUT'])('that the CI appends to, in %s', async (variable) => {
      await earlierBuild();
      await run([...gate, '--timout', ...options], { [variable]: './gate.md' });
      expect(left()).toEqual(['gate.md']);
    });

    it('that cannot be removed, and the command ends as it would without it', async () => {
      await earlierBuild();
      const unremovable = ['junit.xml'];
      const { code } = await on.with({ cwd: '/repo', files, unremovable })(...gate, '--timout', ...options);
      expect([code, left()]).toEqual([64, ['junit.xml']]);
    });
  });
});
