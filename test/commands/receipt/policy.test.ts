// `receipt verify` with a policy file, and with images and files in place of a commit.
import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { bundleOf } from '../../../src/receipt/bundle.ts';
import { cli, type Settings } from '../../cli/harness.ts';
import { fakeClock } from '../../fake-clock.ts';
import {
  changed,
  commit,
  finishedAt,
  image,
  imageDigest,
  sealed,
  second,
  statement,
  stranger,
  trusted,
} from '../../receipt/table.ts';

const envelope = await sealed(JSON.stringify(statement));
const clock = { ...fakeClock(), now: () => Date.parse(finishedAt) + 5000 };
const policyOf = (policy: unknown) => (typeof policy === 'string' ? policy : JSON.stringify(policy));
const full = {
  keys: ['keys/ci.pub'],
  repository: 'acme/shop',
  project: 'shop',
  process: 'checkout',
  environment: 'staging',
  maxAge: '24h',
};

/** Runs `receipt verify`, with the policy in the folder `platform`. */
function verify(policy: unknown, argv: readonly string[] = ['--commit', commit], more: Settings = {}) {
  const files = {
    'receipt.json': JSON.stringify(envelope),
    'platform/receipt-policy.json': policyOf(policy),
    'platform/keys/ci.pub': trusted.publicPem,
    'ci.pub': trusted.publicPem,
    'second.pub': second.publicPem,
    ...more.files,
  };
  return cli(['receipt', 'verify', 'receipt.json', '--policy', 'platform/receipt-policy.json', ...argv], {
    clock,
    ...more,
    files,
  });
}

describe('receipt verify --policy', () => {
  it('takes the keys from the folder of the file, and makes the checks of its fields', async () => {
    const { code, out } = await verify(full, ['--commit', commit, '--json']);
    const { verified, checks } = JSON.parse(out);
    const passed = checks.flatMap(({ check, status }: Record<string, string>) =>
      status === 'passed' ? check : [],
    );
    expect([code, verified]).toEqual([0, true]);
    expect(passed.slice(5)).toEqual([
      'result',
      'commit',
      'repository',
      'project',
      'process',
      'environment',
      'age',
    ]);
  });

  it.each([
    [{ ...full, repository: 'acme/other' }, 'repository'],
    [{ ...full, project: 'other' }, 'project'],
    [{ ...full, process: 'other' }, 'process'],
    [{ keys: full.keys, tags: ['smoke'] }, 'tags'],
    [{ ...full, environment: 'production' }, 'environment'],
    [{ ...full, baseUrl: 'https://pr-7.example.com' }, 'base_url'],
    [{ ...full, requireDeployed: true }, 'deployed'],
    [{ ...full, maxAge: 1 }, 'age'],
  ])('refuses with %j by the check %s', async (policy, check) => {
    const { code, err } = await verify(policy);
    expect(err).toContain(`(${check})`);
    expect(code).toBe(1);
  });

  it('trusts any of its keys, and no other', async () => {
    const files = {
      'platform/a.pub': stranger.publicPem,
      'platform/b.pub': second.publicPem,
    };
    const signedBySecond = JSON.stringify(await sealed(JSON.stringify(statement), second.privatePem));
    const policy = { keys: ['a.pub', 'b.pub'] };
    expect((await verify(policy, undefined, { files })).code).toBe(1);
    expect(
      (await verify(policy, undefined, { files: { ...files, 'receipt.json': signedBySecond } })).code,
    ).toBe(0);
  });

  it('requires the receipts of its gates', async () => {
    const web = changed(({ facts }) => Object.assign(facts, { gate: 'web' }));
    const files = { 'receipt.json': JSON.stringify(await sealed(JSON.stringify(web))) };
    expect((await verify({ ...full, gates: ['web'] }, undefined, { files })).code).toBe(0);
    const { code, err } = await verify({ ...full, gates: ['web', 'api'] }, undefined, { files });
    expect([code, err]).toEqual([1, expect.stringContaining('there is no receipt of the gate "api"')]);
  });

  it('accepts WARNED only if the file says so', async () => {
    const warned = changed(({ root, run }) => {
      Object.assign((root as typeof statement).predicate, { result: 'WARNED' });
      Object.assign(run, { result: 'WARNED' });
    });
    const files = { 'receipt.json': JSON.stringify(await sealed(JSON.stringify(warned))) };
    expect((await verify(full, undefined, { files })).code).toBe(1);
    expect((await verify({ ...full, allowWarned: true }, undefined, { files })).code).toBe(0);
    const { code, err } = await verify(full, ['--commit', commit, '--allow-warned'], { files });
    expect([code, err]).toEqual([64, expect.stringContaining('only the policy file can allow that')]);
  });

  it.each([
    ['--key', 'ci.pub', {}],
    ['--repository', 'acme/shop', {}],
    ['--project', 'shop', {}],
    ['--process', 'checkout', {}],
    ['--tag', 'smoke', { process: undefined, tags: ['smoke'] }],
    ['--environment', 'staging', {}],
    ['--base-url', 'https://pr-7.example.com', { baseUrl: 'https://pr-7.example.com/' }],
    ['--max-age', '48h', {}],
    ['--gate', 'web', { gates: ['web'] }],
    ['--allow-warned', null, { allowWarned: false }],
    ['--require-deployed', null, { requireDeployed: false }],
  ])('refuses %s beside the same field, whatever its value is', async (option, value, more) => {
    const argv = ['--commit', commit, option, ...(value === null ? [] : [value])];
    const { code, err } = await verify({ ...full, ...more }, argv);
    expect(err).toBe(
      `error: ${option} is also set in platform/receipt-policy.json\n  → remove the option: the policy file decides\n`,
    );
    expect(code).toBe(64);
  });

  it.each([
    [
      '{"keys":["ci.pub"],"environments":"staging"}',
      '1:20: unknown field "environments"\n  → did you mean "environment"?',
    ],
    ['{"keys":["ci.pub"],"commit":"main"}', '1:20: unknown field "commit"'],
    ['{"keys":["a.pub"],"keys":["b.pub"]}', '1:19: "keys" is set twice'],
    ['{"keys":[]}', '1:9: keys: expected a list'],
    ['{"keys":"ci.pub"}', '1:9: keys: expected a list'],
    ['{"maxAge":"soon"}', '1:11: maxAge: expected a duration'],
    ['{"maxAge":0}', '1:11: maxAge: expected a duration'],
    ['{"allowWarned":"no"}', '1:16: allowWarned: expected true or false'],
    ['{"environment":null}', '1:16: environment: expected a non-empty string'],
    ['{"baseUrl":"pr-7.example.com"}', '1:12: baseUrl: expected an http or https URL'],
    ['{"baseUrl":["https://pr-7.example.com"]}', '1:12: baseUrl: expected an http or https URL'],
    ['{"baseURL":"https://pr-7.example.com"}', 'did you mean "baseUrl"?'],
    ['{"__proto__":{}}', 'unknown field "__proto__"'],
    ['{}', '1:1: "keys" is missing'],
    ['{"keys":["ci.pub"],"process":"a","tags":["b"]}', '1:34: "process" and "tags" cannot be combined'],
    ['[]', '1:1: expected an object'],
    ['', '1:1: the file is empty'],
    ['{,}', '1:2: not valid JSON'],
  ])('refuses the file %s as a whole', async (policy, message) => {
    const { code, err, out } = await verify(policy);
    expect(err).toContain(`error: platform/receipt-policy.json:`);
    expect(err).toContain(message);
    expect([code, out]).toEqual([78, '']);
  });

  it('refuses tags beside the process of the file', async () => {
    const { code, err } = await verify(full, ['--commit', commit, '--tag', 'smoke']);
    expect([code, err]).toEqual([64, expect.stringContaining('--process and --tag cannot be combined')]);
  });

  it('says which file is missing', async () => {
    const { code, err } = await cli(['receipt', 'verify', 'receipt.json', '--policy', 'none.json']);
    expect([code, err]).toEqual([
      64,
      expect.stringContaining('--policy: cannot read none.json: no such file'),
    ]);
    const missing = await verify({ keys: ['none.pub'] });
    expect([missing.code, missing.err]).toEqual([64, expect.stringContaining('none.pub: no such file')]);
  });

  it('is given once, as every demand with one value: an earlier one must not be lost', async () => {
    const files = { 'loose.json': '{"keys":["ci.pub"]}' };
    const second = await verify(
      { ...full, environment: 'production' },
      ['--commit', commit, '--policy', 'loose.json'],
      { files },
    );
    expect([second.code, second.err]).toEqual([64, 'error: --policy is given twice\n  → give it once\n']);
    for (const [option, value] of [
      ['--commit', commit],
      ['--environment', 'staging'],
      ['--base-url', 'https://pr-7.example.com'],
      ['--max-age', '1h'],
    ] as const) {
      const argv = ['receipt', 'verify', 'receipt.json', '--key', 'ci.pub', option, value, option, value];
      const { code, err } = await cli(argv, { clock, files: { 'ci.pub': trusted.publicPem } });
      expect([code, err]).toEqual([64, `error: ${option} is given twice\n  → give it once\n`]);
    }
  });

  it('never takes a key from standard input', async () => {
    const files = { 'policy.json': '{"keys":["-"]}', 'receipt.json': JSON.stringify(envelope) };
    const argv = ['receipt', 'verify', 'receipt.json', '--policy', 'policy.json', '--commit', commit];
    const { code, err } = await cli(argv, { clock, files, stdin: trusted.publicPem });
    expect([code, err]).toEqual([64, expect.stringContaining('cannot read ./-')]);
  });
});

describe('receipt verify with images and files', () => {
  const subject = `${image.name}@sha256:${imageDigest}`;

  it.each([
    [['--subject', subject], 0],
    [['--subject', `sha256:${imageDigest}`], 0],
    [['--subject', subject, '--commit', commit], 0],
    [['--subject', subject, '--commit', '0'.repeat(40)], 1],
    [['--subject', subject, '--subject', `sha256:${'0'.repeat(64)}`], 1],
    [['--subject', `ghcr.io/acme/other@sha256:${imageDigest}`], 1],
  ])('with %j the exit code is %i', async (argv, code) => {
    expect((await verify(full, argv)).code).toBe(code);
  });

  it('reads a Sigstore bundle as well as an envelope', async () => {
    const files = { 'receipt.json': JSON.stringify(bundleOf(envelope)) };
    expect((await verify(full, ['--subject', subject], { files })).code).toBe(0);
  });

  it('compares the content of a file, whatever its name is', async () => {
    const sha256 = createHash('sha256').update('content').digest('hex');
    const own = { ...statement, subject: [statement.subject[0], { name: 'app.tgz', digest: { sha256 } }] };
    const files = {
      'receipt.json': JSON.stringify(await sealed(JSON.stringify(own))),
      'renamed.tgz': 'content',
    };
    const argv = ['--subject-file', 'renamed.tgz'];
    expect((await verify(full, argv, { files })).code).toBe(0);
    const { code, err } = await verify(full, argv, { files: { ...files, 'renamed.tgz': 'Content' } });
    expect([code, err]).toEqual([1, expect.stringContaining('(subject)')]);
  });
});
