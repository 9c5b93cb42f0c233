import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import type { Fault, MockOptions } from '../../../src/mock/server.ts';
import { type ResourceDescriptor, type Statement, verifyReceipt } from '../../../src/receipt/index.ts';
import { artifactText } from '../../../src/subject.ts';
import { type Settings, type Stage, stage, trigger } from '../../cli/harness.ts';
import { commit, second, statement, trusted } from '../../receipt/table.ts';

let on: Stage;
afterEach(() => on.close());

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

/** Runs a command on a stage with these options. Returns its result, the files and the receipt. */
async function run(options: MockOptions, argv: readonly string[], { env, ...settings }: Settings = {}) {
  on = await stage({ outcome: 'passed', ...options });
  const files: Record<string, string | Uint8Array> = { ...settings.files };
  const own = { ...settings, files, env: { RUNGATE_RECEIPT_KEY: trusted.privatePem, ...env } };
  const result = await on.with(own)(...argv);
  const text = files['receipt.json']?.toString();
  return { ...result, files, text };
}
const statementIn = (text = ''): Statement =>
  JSON.parse(Buffer.from(JSON.parse(text).payload, 'base64').toString());
const rungateIn = (text?: string) => statementIn(text).predicate.configuration[0].annotations.rungate;
const verified = (text = '', more = {}) =>
  verifyReceipt({ receipt: text, keys: trusted.publicPem, commit, now: new Date(on.clock.now()), ...more });
/** The gate's policy is the content of the last entry of the configuration. */
function policyIn({ predicate }: Statement) {
  const { content = '' }: ResourceDescriptor = predicate.configuration.at(-1) ?? {};
  return JSON.parse(Buffer.from(content, 'base64').toString());
}

it('a signed receipt has every fact', async () => {
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

it('commit and repository come from CI or git', async () => {
  const { text } = await run({}, gate, { captured });
  expect((await verified(text, { repository: 'acme/shop' })).result).toBe('PASSED');
  await on.close();
  const ci = { GITLAB_CI: 'true', CI_COMMIT_SHA: commit, CI_PROJECT_PATH: 'acme/lab' };
  const other = await run({}, gate, { env: ci });
  expect((await verified(other.text, { repository: 'acme/lab' })).result).toBe('PASSED');
});

it('the receipt is FAILED, without a run, if another build was deployed, whatever the policy is', async () => {
  on = await stage({ outcome: 'passed', deployed: 'old' });
  const files: Record<string, string> = {};
  const argv = [...gate, ...sha, '--deployed-url', `${on.mock.url}/_mock/version`, '--on', 'mismatch=warn'];
  const env = { RUNGATE_RECEIPT_KEY: trusted.privatePem };
  expect((await on.with({ files, env })(...argv)).code).toBe(8);
  expect(statementIn(files['receipt.json']).predicate.result).toBe('FAILED');
  expect(rungateIn(files['receipt.json'])).toMatchObject({
    deployed: { version: 'old', matches: null },
    runs: [{ verdict: 'mismatch', runId: null, project: 'shop' }],
  });
});

it('run wait writes one receipt for all runs, with the result of the worst, whose project it does not know', async () => {
  on = await stage({ outcome: ['passed', 'failed'] });
  const ids = [(await on.rungate(...trigger)).out.trim(), (await on.rungate(...trigger)).out.trim()];
  const files: Record<string, string> = {};
  const wait = ['run', 'wait', ...ids, '--receipt', 'receipt.json', '--name', 'a', '--name', 'b'];
  const env = { RUNGATE_RECEIPT_KEY: trusted.privatePem };
  expect((await on.with({ files, env, captured })(...wait)).code).toBe(1);
  const { predicate } = statementIn(files['receipt.json']);
  expect(predicate).toMatchObject({ result: 'FAILED', passedTests: ['a'], failedTests: ['b'] });
  expect(predicate).not.toHaveProperty('url');
  expect(rungateIn(files['receipt.json'])?.runs).toMatchObject(
    ids.map((runId) => ({ runId, project: null })),
  );
});

describe('without a verdict, there is no receipt, and an older one is gone', () => {
  const down = (endpoint: 'run.status' | 'run.trigger', status: number): Fault[] => [
    { kind: 'status', status, endpoint, times: 99 },
  ];

  it.each<[string, MockOptions, string[], number]>([
    ['a timeout', { outcome: 'stuck' }, [], 3],
    ['a timeout that only warns', { outcome: 'stuck' }, ['--on', 'timeout=warn'], 0],
    ['unobserved that only warns', { faults: down('run.status', 500) }, ['--on', 'unobserved=warn'], 0],
    ['a refused create', { faults: down('run.trigger', 401) }, [], 6],
  ])('after %s', async (_name, options, flags, exitCode) => {
    const argv = [...gate, ...sha, '--timeout', '60s', ...flags];
    const { code, text, err } = await run(options, argv, { files: { 'receipt.json': older } });
    expect([code, text]).toEqual([exitCode, undefined]);
    if (exitCode < 6) expect(err).toContain('no receipt was written to receipt.json: a run has no verdict');
  });
});

describe('refused before anything is sent', () => {
  const refused = async (argv: readonly string[], settings: Settings = {}) => {
    const result = await run({}, argv, settings);
    expect(on.mock.requests).toHaveLength(0);
    return result;
  };

  it.each<[string, string[], RegExp]>([
    ['an unknown', [], /--receipt: neither CI nor git says which commit this is\n.*--commit-sha/],
    [
      'an abbreviated',
      ['--commit-sha', commit.slice(0, 12)],
      /--receipt: "\w{12}" is not a full commit hash/,
    ],
  ])('%s commit is a usage error, and the older receipt is gone', async (_what, flags, message) => {
    const { code, err, text } = await refused([...gate, ...flags], { files: { 'receipt.json': older } });
    expect([code, text, err]).toEqual([64, undefined, expect.stringMatching(message)]);
  });

  it('an older receipt that cannot be removed is a configuration error', async () => {
    const settings = { files: { 'receipt.json': older }, unremovable: ['receipt.json'] };
    const { code, err } = await refused([...gate, ...sha], settings);
    expect([code, err]).toEqual([
      78,
      expect.stringContaining('the old receipt receipt.json cannot be removed'),
    ]);
  });

  it.each([
    ['a private key', trusted.privatePem],
    ['an attestation of another tool', JSON.stringify({ ...statement, predicate: {} })],
  ])('the path of %s is a configuration error, and the file stays', async (_name, content) => {
    const { code, err, text } = await refused([...gate, ...sha], { files: { 'receipt.json': content } });
    expect([code, text]).toEqual([78, content]);
    expect(err).toMatch(/error: receipt\.json exists and is not a receipt\n {2}→ name another file/);
  });

  it('a key that cannot sign is a configuration error that does not repeat it', async () => {
    const env = { RUNGATE_RECEIPT_KEY: trusted.publicPem };
    const { code, err, out } = await refused([...gate, ...sha], { env });
    expect([code, err]).toEqual([78, expect.stringContaining('it is a public key')]);
    expect(err + out).not.toContain(trusted.publicPem.split('\n')[1]);
  });
});

describe('the key', () => {
  it('is read from the file that RUNGATE_RECEIPT_KEY_FILE names, with a warning if others may read it', async () => {
    const env = { RUNGATE_RECEIPT_KEY: undefined, RUNGATE_RECEIPT_KEY_FILE: '/run/key' };
    const settings = { env, files: { '/run/key': second.privatePem } };
    const { text, err } = await run({}, [...gate, ...sha, '-q'], settings);
    expect((await verified(text, { keys: second.publicPem })).keyId).toBe(second.id);
    expect(err).toBe('');
    await on.close();
    const exposed = await run({}, [...gate, ...sha, '-q'], { ...settings, exposed: ['/run/key'] });
    expect([exposed.code, exposed.err]).toEqual([
      0,
      'other users may be able to read your secrets: run chmod 600 /run/key\n',
    ]);
  });

  it('and other secrets appear neither in the receipt nor in the output', async () => {
    const line = String(trusted.privatePem.split('\n')[1]);
    const apiKey = 'rg_Zk3J9aQ7Lm2XvT5bNc8RfW1dHs6Gy4PeUo0Ki';
    const secrets = [
      '--ref',
      line,
      '--repository',
      apiKey,
      '--external-url',
      `https://ci.example.com/${apiKey}`,
    ];
    const { out, err, text } = await run({ apiKey }, [...gate, ...sha, ...secrets, '--verbose']);
    const all = out + err + JSON.stringify(statementIn(text));
    expect(all).not.toContain(line);
    expect(all).not.toContain(apiKey);
    expect(all).toContain('"ref":"***"');
  });
});

it('a receipt that cannot be written fails a passing gate with 78, an error and a remedy', async () => {
  const github = { GITHUB_ACTIONS: 'true', GITHUB_OUTPUT: '/gh/output' };
  const { files: written } = await run({}, [...gate, ...sha], { env: github });
  expect(written['/gh/output']).toMatch(/receipt<<(\S+)\nreceipt\.json\n\1\n$/);
  await on.close();
  const settings = { unwritable: ['receipt.json'], env: github };
  const { code, err, files } = await run({}, [...gate, ...sha], settings);
  expect(code).toBe(78);
  expect(err).toMatch(
    /error: the receipt receipt\.json could not be written: EACCES.*\n {2}→ name a file that/,
  );
  expect(files['/gh/output']).toMatch(/exit-code<<\S+\n78\n/);
  expect(files['/gh/output']).not.toContain('receipt<<');
});

describe('subjects', () => {
  const hashed = (content: string) => createHash('sha256').update(content).digest('hex');
  const hex = hashed('image');
  const image = `ghcr.io:443/acme/shop:1.2@sha256:${hex}`;
  const named = ['gate', '--project', 'shop', '--process', 'checkout', ...sha];
  const receipt = ['--receipt', 'receipt.json'];
  const subjectsIn = (text?: string) =>
    statementIn(text)
      .subject.slice(1)
      .map((one) => artifactText(one as never));

  it('are the images, with port and tag, and then the files by their base names, in order', async () => {
    const files = { 'dist/app.tgz': 'app', '/tmp/empty': '' };
    const more = ['--subject-file', 'dist/app.tgz', '--subject', image, '--subject-file', '/tmp/empty'];
    const { text } = await run({}, [...named, ...receipt, ...more, '--subject', `b@SHA256:${hex}`], {
      files,
    });
    expect(subjectsIn(text)).toEqual([
      image,
      `b@sha256:${hex}`,
      `app.tgz@sha256:${hashed('app')}`,
      `empty@sha256:${hashed('')}`,
    ]);
  });

  it('do not contain a secret in their names, nor do messages', async () => {
    const apiKey = 'hidden-0123456789';
    const settings = { files: { [`${apiKey}.tgz`]: 'app' } };
    const argv = [
      ...named,
      ...receipt,
      '--subject',
      `${apiKey}@sha256:${hex}`,
      '--subject-file',
      `${apiKey}.tgz`,
    ];
    const { text, out, err } = await run({ apiKey }, argv, settings);
    expect(subjectsIn(text)).toEqual([`***@sha256:${hex}`, `***.tgz@sha256:${hashed('app')}`]);
    expect(out + err).not.toContain(apiKey);
    await on.close();
    const refused = await run({ apiKey }, [...argv, '--subject', `${apiKey}.tgz@sha256:${hex}`], settings);
    expect([refused.code, refused.err]).toEqual([64, expect.stringContaining('"***.tgz"')]);
  });

  const app = `app.tgz@sha256:${hex}`;
  it.each<[string, readonly string[], RegExp]>([
    [
      'the same name twice',
      [...named, ...receipt, '--subject', app, '--subject', app],
      /^error: --subject: two subjects have the same name\n {2}→ give each a different name/,
    ],
    [
      'a tag',
      [...named, ...receipt, '--subject', 'shop:1.2'],
      /^error: --subject: expected <name>@sha256:<64 hex digits>\n {2}→ give the digest of the image/,
    ],
    [
      'a file that is missing',
      ['run', 'wait', 'run_1', ...receipt, '--subject-file', 'no.tgz'],
      /^error: --subject-file: cannot read no\.tgz: no such file\n/,
    ],
    [
      'a name with a control character',
      [...named, ...receipt, '--subject-file', 'a\u001b[31m.tgz'],
      /^error: --subject-file: .*\n {2}→ write one path or name/,
    ],
    [
      '--subject that nothing uses',
      [...named, '--subject', app],
      /^error: --subject has no effect: no receipt is written/,
    ],
    [
      'subjects without a wait',
      [...trigger, '--subject', image, '--subject-file', 'app.tgz'],
      /^error: --subject and --subject-file have no effect/,
    ],
  ])('%s are refused before anything is sent', async (_what, argv, message) => {
    const { code, err, text } = await run({}, argv, { files: { 'app.tgz': 'app', 'a\u001b[31m.tgz': '' } });
    expect([code, err, text]).toEqual([64, expect.stringMatching(message), undefined]);
    expect(err).not.toContain('\u001b');
    expect(on.mock.requests).toHaveLength(0);
  });
});
