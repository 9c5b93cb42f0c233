import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { MockOptions } from '../../../src/mock/server.ts';
import { type ResourceDescriptor, type Statement, verifyReceipt } from '../../../src/receipt/index.ts';
import { type Artifact, artifactText } from '../../../src/subject.ts';
import { type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { commit, second, statement, trusted } from '../../receipt/table.ts';

describe('a receipt', () => {
  let on: Stage;
  afterEach(() => on.close());

  const key = { RUNGATE_RECEIPT_KEY: trusted.privatePem };
  const sha = ['--commit-sha', commit];
  const gate = [...trigger, '--wait', '--receipt', 'receipt.json'];
  const older = JSON.stringify(statement);
  /** Git knows the commit and the repository. */
  const captured = (command: readonly string[]) =>
    command.includes('rev-parse')
      ? `${commit}\n`
      : command.includes('config')
        ? 'https://git.example.com/acme/shop.git\n'
        : null;

  /** Runs a command. Returns its result, the files and the receipt. */
  async function run(options: MockOptions, argv: readonly string[], settings: Settings = {}) {
    on = await stage(options);
    const files: Record<string, string> = {};
    for (const [path, content] of Object.entries(settings.files ?? {})) files[path] = String(content);
    const result = await on.with({ ...settings, files, env: { ...key, ...settings.env } })(...argv);
    const text = files['receipt.json'];
    return { ...result, files, text };
  }
  const verified = (text = '', more = {}) =>
    verifyReceipt({ receipt: text, keys: trusted.publicPem, commit, now: new Date(on.clock.now()), ...more });
  /** The gate's policy is the content of the last entry of the configuration. */
  function policyIn({ predicate }: Statement) {
    const { content = '' }: ResourceDescriptor = predicate.configuration.at(-1) ?? {};
    return JSON.parse(Buffer.from(content, 'base64').toString());
  }
  const resultOf = async (text = '') => {
    const { payload } = JSON.parse(text);
    return JSON.parse(Buffer.from(payload, 'base64').toString()).predicate.result;
  };

  describe('--receipt of run trigger', () => {
    it('writes a signed receipt with every fact', async () => {
      const url = 'https://ci.example.com/1';
      const build = ['--repository', 'acme/shop', '--ref', 'main', '--external-url', url];
      const argv = [...gate, ...sha, ...build, '--environment', 'staging', '--strict'];
      const { code, text, out } = await run({ outcome: 'passed', duration: 20_000 }, argv);
      const [{ runId, appUrl }] = JSON.parse(
        (await on.rungate('run', 'wait', out.split('\t')[0] ?? '', '--json')).out,
      ).runs;
      expect(code).toBe(0);
      const facts = { repository: 'acme/shop', project: 'shop', process: 'checkout', environment: 'staging' };
      const { statement, ageMs } = await verified(text, { ...facts, maxAgeMs: 1000 });
      expect(ageMs).toBe(0);
      const { rungate } = statement.predicate.configuration[0].annotations;
      expect(statement).toMatchObject({
        subject: [{ name: 'acme/shop', digest: { gitCommit: commit } }],
        predicate: {
          result: 'PASSED',
          url: appUrl,
          configuration: [
            { name: 'shop / checkout', uri: on.mock.url },
            {
              name: 'environment',
              uri: `${on.mock.url}/api/environments#staging`,
              annotations: { key: 'staging' },
            },
            { name: 'policy', mediaType: 'application/json' },
          ],
          passedTests: ['shop / checkout'],
          warnedTests: [],
          failedTests: [],
        },
      });
      expect(rungate).toMatchObject({
        schemaVersion: 1,
        ref: 'main',
        buildUrl: 'https://ci.example.com/1',
        runs: [{ runId, verdict: 'passed', failed: 0, blocked: 0, appUrl, tags: null }],
      });
      expect(policyIn(statement)).toMatchObject({ passed: 'pass', cancelled: 'fail' });
      expect(Date.parse(rungate.finishedAt) - Date.parse(rungate.startedAt)).toBeGreaterThanOrEqual(20_000);
    });

    it.each([
      ['passed', [], 'PASSED', 0],
      ['failed', [], 'FAILED', 1],
      ['blocked', [], 'FAILED', 2],
      ['cancelled', ['--strict'], 'FAILED', 4],
      ['cancelled', [], 'WARNED', 0],
      ['failed', ['--on', 'failed=warn'], 'WARNED', 0],
      ['failed', ['--on', 'failed=pass'], 'WARNED', 0],
    ] as const)('after %s with %j has the result %s', async (outcome, options, result, exitCode) => {
      const { code, text } = await run({ outcome }, [...gate, ...sha, ...options]);
      expect([code, await resultOf(text)]).toEqual([exitCode, result]);
    });

    it('takes commit and repository from CI or git', async () => {
      const { text } = await run({ outcome: 'passed' }, gate, { captured });
      expect((await verified(text, { repository: 'acme/shop' })).result).toBe('PASSED');
      await on.close();
      const ci = { GITLAB_CI: 'true', CI_COMMIT_SHA: commit, CI_PROJECT_PATH: 'acme/lab' };
      const other = await run({ outcome: 'passed' }, gate, { env: ci });
      expect((await verified(other.text, { repository: 'acme/lab' })).result).toBe('PASSED');
    });
  });

  it.each([[[]], [['--on', 'mismatch=warn']]])(
    'the receipt is FAILED, without a run, if another build was deployed, with %j',
    async (flags) => {
      on = await stage({ outcome: 'passed', deployed: 'old' });
      const files: Record<string, string> = {};
      const argv = [...gate, ...sha, '--deployed-url', `${on.mock.url}/_mock/version`, ...flags];
      expect((await on.with({ files, env: key })(...argv)).code).toBe(8);
      const { payload } = JSON.parse(files['receipt.json'] ?? '{}');
      const { predicate } = JSON.parse(Buffer.from(payload, 'base64').toString());
      expect(predicate.result).toBe('FAILED');
      expect(predicate.configuration[0].annotations.rungate).toMatchObject({
        deployed: { version: 'old', matches: null },
        runs: [{ verdict: 'mismatch', runId: null, project: 'shop' }],
      });
    },
  );

  describe('--receipt of run wait', () => {
    it('writes one receipt for all runs, with the result of the worst, whose project it does not know', async () => {
      on = await stage({ outcome: ['passed', 'failed'] });
      const ids = [(await on.rungate(...trigger)).out.trim(), (await on.rungate(...trigger)).out.trim()];
      const files: Record<string, string> = {};
      const wait = ['run', 'wait', ...ids, '--receipt', 'receipt.json', '--name', 'a', '--name', 'b'];
      expect((await on.with({ files, env: key, captured })(...wait)).code).toBe(1);
      const { payload } = JSON.parse(files['receipt.json'] ?? '');
      const { predicate } = JSON.parse(Buffer.from(payload, 'base64').toString());
      expect(predicate).toMatchObject({ result: 'FAILED', passedTests: ['a'], failedTests: ['b'] });
      expect(predicate).not.toHaveProperty('url');
      const { runs } = predicate.configuration[0].annotations.rungate;
      expect(runs).toMatchObject(ids.map((runId) => ({ runId, project: null })));
    });
  });

  describe('without a verdict, there is no receipt, and an older one is gone', () => {
    const old = { files: { 'receipt.json': older } };

    it.each([
      ['timeout', { outcome: 'stuck' }, ['--timeout', '60s'], 3],
      ['timeout that only warns', { outcome: 'stuck' }, ['--timeout', '60s', '--on', 'timeout=warn'], 0],
    ] as const)('after a %s', async (_name, options, flags, exitCode) => {
      const { code, text, err } = await run(options, [...gate, ...sha, ...flags], old);
      expect([code, text]).toEqual([exitCode, undefined]);
      expect(err).toContain('no receipt was written to receipt.json: a run has no verdict');
    });

    it.each([
      [5, { kind: 'status', status: 500, endpoint: 'run.status', times: 99 }, []],
      [0, { kind: 'status', status: 500, endpoint: 'run.status', times: 99 }, ['--on', 'unobserved=warn']],
      [5, { kind: 'status', status: 500, endpoint: 'run.trigger', times: 99 }, []],
      [6, { kind: 'status', status: 401, endpoint: 'run.trigger', times: 99 }, []],
    ] as const)('after an unobserved run (exit code %i)', async (exitCode, fault, flags) => {
      const argv = [...gate, ...sha, '--timeout', '60s', ...flags];
      const { code, text } = await run({ outcome: 'passed', faults: [fault as never] }, argv, old);
      expect([code, text]).toEqual([exitCode, undefined]);
    });

    it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('after %s', async (signal) => {
      on = await stage({ outcome: 'stuck' });
      const files: Record<string, string> = { ...old.files };
      const onStop = (stop: (by: typeof signal) => void) =>
        void on.clock.sleep(30_000).then(() => stop(signal));
      const { code } = await on.with({ files, env: key, onStop: onStop as never })(...gate, ...sha);
      expect(code).toBeGreaterThan(128);
      expect(files).toEqual({});
    });
  });

  describe('refused before anything is sent', () => {
    const nothing = () => expect(on.mock.requests).toHaveLength(0);
    const refused = async (argv: readonly string[], settings: Settings = {}) => {
      const result = await run({ outcome: 'passed' }, argv, settings);
      nothing();
      return result;
    };

    it('an unknown commit is a usage error, and the older receipt is gone', async () => {
      const { code, err, text } = await refused(gate, { files: { 'receipt.json': older } });
      expect([code, text]).toEqual([64, undefined]);
      expect(err).toMatch(/--receipt: neither CI nor git says which commit this is\n.*--commit-sha/);
    });

    it.each([
      [['--receipt', '-'], /^error: --junit, --report and --receipt need a file/],
      [['--receipt', ''], /--receipt is empty/],
      [['--receipt', 'a.json', '--report', './a.json'], /the same file/],
    ])('%j is a usage error', async (flags, message) => {
      const { code, err } = await refused([...trigger, '--wait', ...sha, ...flags]);
      expect([code, err]).toEqual([64, expect.stringMatching(message)]);
    });

    it('an older receipt that cannot be removed is a configuration error', async () => {
      const settings = { files: { 'receipt.json': older }, unremovable: ['receipt.json'] };
      const { code, err } = await refused([...gate, ...sha], settings);
      expect([code, err]).toEqual([
        78,
        expect.stringMatching(/the old receipt receipt\.json cannot be removed: EACCES/),
      ]);
    });

    it.each([
      ['a private key', trusted.privatePem],
      ['text', 'payloadType'],
      ['an attestation of another tool', JSON.stringify({ ...statement, predicate: {} })],
    ])('the path of %s is a configuration error, and the file stays', async (_name, content) => {
      const { code, err, text } = await refused([...gate, ...sha], { files: { 'receipt.json': content } });
      expect([code, text]).toEqual([78, content]);
      expect(err).toMatch(/error: receipt\.json exists and is not a receipt\n {2}→ name another file/);
    });

    it.each([
      ['a public key', trusted.publicPem, 'it is a public key'],
      ['the path of a key', '/run/key', 'with its BEGIN and END lines'],
    ])('%s is a configuration error that does not repeat it', async (_name, pem, message) => {
      const { code, err, out } = await refused([...gate, ...sha], { env: { RUNGATE_RECEIPT_KEY: pem } });
      expect([code, err]).toEqual([78, expect.stringContaining(message)]);
      expect(err + out).not.toContain(trusted.privatePem.split('\n')[1]);
    });

    it('a secret on the command line is refused', async () => {
      const { code, err } = await refused([...gate, '--receipt-key', 'x']);
      expect([code, err]).toEqual([64, expect.stringContaining('RUNGATE_RECEIPT_KEY_FILE')]);
    });
  });

  describe('the key', () => {
    it('is read from the file that RUNGATE_RECEIPT_KEY_FILE names', async () => {
      const env = { RUNGATE_RECEIPT_KEY: undefined, RUNGATE_RECEIPT_KEY_FILE: '/run/key' };
      const settings = { env, files: { '/run/key': second.privatePem } };
      const { text, err } = await run({ outcome: 'passed' }, [...gate, ...sha], settings);
      expect((await verified(text, { keys: second.publicPem })).keyId).toBe(second.id);
      expect(err).not.toContain('other users');
    });

    it('is warned about if other users may read its file', async () => {
      const env = { RUNGATE_RECEIPT_KEY: undefined, RUNGATE_RECEIPT_KEY_FILE: '/run/key' };
      const settings = { env, files: { '/run/key': second.privatePem }, exposed: ['/run/key'] };
      const { code, err } = await run({ outcome: 'passed' }, [...gate, ...sha, '-q'], settings);
      expect([code, err]).toEqual([
        0,
        'other users may be able to read your secrets: run chmod 600 /run/key\n',
      ]);
    });

    it('and other secrets appear neither in the receipt nor in the output', async () => {
      on = await stage({ outcome: 'passed' });
      const files: Record<string, string> = {};
      const line = String(trusted.privatePem.split('\n')[1]);
      const secrets = [
        '--ref',
        line,
        '--repository',
        on.mock.apiKey,
        '--external-url',
        `https://ci.example.com/${on.mock.apiKey}`,
      ];
      const { out, err } = await on.with({ files, env: key })(...gate, ...sha, ...secrets, '--verbose');
      const { payload } = JSON.parse(files['receipt.json'] ?? '');
      const text = out + err + Buffer.from(payload, 'base64').toString();
      expect(text).not.toContain(line);
      expect(text).not.toContain(on.mock.apiKey);
      expect(text).toContain('"ref":"***"');
    });
  });

  describe('a receipt that cannot be written', () => {
    it('fails a passing gate with 78, an error and a remedy', async () => {
      const github = { GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: '/gh/output' };
      const settings = { unwritable: ['receipt.json'], env: github };
      const { code, err, files } = await run({ outcome: 'passed' }, [...gate, ...sha], settings);
      expect(code).toBe(78);
      expect(err).toMatch(
        /error: the receipt receipt\.json could not be written: EACCES.*\n {2}→ name a file that/,
      );
      expect(files['/gh/output']).toMatch(/exit-code<<\S+\n78\n/);
      expect(files['/gh/output']).not.toContain('receipt<<');
    });
  });

  it('in GitHub Actions, the output receipt has the path of the receipt', async () => {
    const github = { GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: '/gh/output' };
    const { files } = await run({ outcome: 'passed' }, [...gate, ...sha], { env: github });
    expect(files['/gh/output']).toMatch(/receipt<<(\S+)\nreceipt\.json\n\1\n$/);
  });
});

describe('subjects', () => {
  let on: Stage;
  afterEach(() => on.close());

  const hashed = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');
  const hex = hashed('image');
  const image = `ghcr.io:443/acme/shop:1.2@sha256:${hex}`;
  const commands = {
    gate: ['gate', '--project', 'shop', '--process', 'checkout', '--commit-sha', commit],
    'run trigger': [...trigger, '--wait', '--commit-sha', commit],
    'run wait': ['run', 'wait', 'run_1'],
  } as const;
  const receipt = ['--receipt', 'receipt.json'] as const;
  const gate = [...commands.gate, ...receipt];

  /** Runs a command. Returns its result, the files and the subjects of the receipt. */
  async function run(argv: readonly string[], settings: Settings = {}, options: MockOptions = {}) {
    on = await stage({ outcome: 'passed', ...options });
    const files: Record<string, string | Uint8Array> = settings.files ?? {};
    const captured = (command: readonly string[]) => (command.includes('rev-parse') ? `${commit}\n` : null);
    const env = { RUNGATE_RECEIPT_KEY: trusted.privatePem, ...settings.env };
    const result = await on.with({ captured, ...settings, files, env })(...argv);
    return { ...result, files, subjects: subjectsIn(files['receipt.json']) };
  }

  function subjectsIn(file: string | Uint8Array | undefined): string[] | null {
    if (file === undefined) return null;
    const { payload } = JSON.parse(String(file));
    const [, ...artifacts] = JSON.parse(Buffer.from(payload, 'base64').toString()).subject;
    return artifacts.map((artifact: Artifact) => artifactText(artifact));
  }

  describe('the subjects of a receipt', () => {
    it('are the images, with port and tag, and then the files by their base names, in order', async () => {
      const files = { 'dist/app.tgz': 'app', '/tmp/empty': '' };
      const more = ['--subject-file', 'dist/app.tgz', '--subject', image, '--subject-file', '/tmp/empty'];
      const { code, subjects } = await run([...gate, ...more, '--subject', `b@SHA256:${hex}`], { files });
      expect(code).toBe(0);
      expect(subjects).toEqual([
        image,
        `b@sha256:${hex}`,
        `app.tgz@sha256:${hashed('app')}`,
        `empty@sha256:${hashed('')}`,
      ]);
    });

    it('do not contain a secret in their names, nor do messages', async () => {
      const secret = 'hidden-0123456789';
      const env = { RUNGATE_API_KEY: secret };
      const files = { [`${secret}.tgz`]: 'app' };
      const argv = [...gate, '--subject', `${secret}@sha256:${hex}`, '--subject-file', `${secret}.tgz`];
      const { subjects, out, err } = await run(argv, { files, env }, { apiKey: secret });
      expect(subjects).toEqual([`***@sha256:${hex}`, `***.tgz@sha256:${hashed('app')}`]);
      expect(out + err).not.toContain(secret);
      await on.close();
      const twice = [...argv, '--subject', `${secret}.tgz@sha256:${hex}`];
      const refused = await run(twice, { files: { [`${secret}.tgz`]: 'app' }, env });
      expect([refused.code, refused.err]).toEqual([64, expect.stringContaining('"***.tgz"')]);
    });
  });

  it('a re-run of the job joins the run of the same image, and starts its own one for another', async () => {
    on = await stage({ outcome: 'passed', duration: 60_000 });
    const job = { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '77', GITHUB_JOB: 'gate', RUNNER_TEMP: '/none' };
    const runOf = async (attempt: string, subject: string, timeout: string) => {
      const env = { ...job, RUNGATE_RECEIPT_KEY: trusted.privatePem, GITHUB_RUN_ATTEMPT: attempt };
      const argv = [...gate, '--subject', subject, '--timeout', timeout, '--json'];
      const { code, out } = await on.with({ files: {}, env })(...argv);
      return [code, JSON.parse(out).runs[0].runId];
    };
    const [code, first] = await runOf('1', image, '10s');
    expect(code).toBe(3);
    expect(await runOf('2', image, '10s')).toEqual([3, first]);
    const [, other] = await runOf('3', image.replace('shop', 'other'), '10s');
    expect(other).not.toBe(first);
  });

  describe.each(Object.entries(commands))('%s', (_name, argv) => {
    const app = `app.tgz@sha256:${hex}`;
    it.each([
      [
        'the same name twice',
        [...receipt, '--subject', app, '--subject', app],
        /^error: --subject: two subjects have the same name\n {2}→ give each a different name/,
      ],
      [
        'a tag',
        [...receipt, '--subject', 'shop:1.2'],
        /^error: --subject: expected <name>@sha256:<64 hex digits>\n {2}→ give the digest of the image/,
      ],
      [
        'a file that is missing',
        [...receipt, '--subject-file', 'no.tgz'],
        /^error: --subject-file: cannot read no\.tgz: no such file\n/,
      ],
      [
        'a name with a control character',
        [...receipt, '--subject-file', 'a\u001b[31m.tgz'],
        /^error: --subject-file: .*\n {2}→ write one path or name/,
      ],
      [
        '--subject that nothing uses',
        ['--subject', app],
        /^error: --subject has no effect: no receipt is written/,
      ],
    ])('refuses %s before anything is sent', async (_what, flags, message) => {
      const files = { 'app.tgz': 'app', 'dist/a': '', 'a\u001b[31m.tgz': '' };
      const { code, err, subjects } = await run([...argv, ...flags], { files });
      expect([code, err, subjects]).toEqual([64, expect.stringMatching(message), null]);
      expect(err).not.toContain('\u001b');
      expect(on.mock.requests).toHaveLength(0);
    });
  });

  it.each([[], ['--no-wait']])('run trigger without --wait refuses subjects, with %j', async (...no) => {
    const argv = [...trigger, '--subject', image, '--subject-file', 'app.tgz', ...no];
    const { code, err } = await run(argv, { files: { 'app.tgz': '' } });
    expect([code, err]).toEqual([
      64,
      expect.stringMatching(/^error: --subject and --subject-file have no effect/),
    ]);
    expect(on.mock.requests).toHaveLength(0);
  });
});
