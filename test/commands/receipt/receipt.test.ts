import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemIo } from '../../../src/host/io.ts';
import { checkNames } from '../../../src/receipt/error.ts';
import { cli, memoryIo, type Settings } from '../../cli/harness.ts';
import { main } from '../../cli/main.ts';
import { fakeClock } from '../../fake-clock.ts';
import {
  changed,
  commit,
  finishedAt,
  sealed,
  second,
  statement,
  stranger,
  trusted,
} from '../../receipt/table.ts';

const receipt = JSON.stringify(await sealed(JSON.stringify(statement)));
const files = {
  'receipt.json': receipt,
  'ci.pub': trusted.publicPem,
  'second.pub': second.publicPem,
  'ci.key': trusted.privatePem,
  'text.pub': 'no key',
};
const clock = fakeClock();
const at = (ms: number) => ({ ...clock, now: () => Date.parse(finishedAt) + ms });
const run = (argv: readonly string[], settings: Settings = {}) =>
  cli(['receipt', ...argv], { clock: at(5000), ...settings, files: { ...files, ...settings.files } });
const verify = ['verify', 'receipt.json', '--key', 'ci.pub', '--commit', commit];

describe('receipt verify', () => {
  it('reads no more than 4 MiB of a receipt', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rungate-large-'));
    const large = join(folder, 'large.json');
    writeFileSync(large, '');
    // Node cannot read a file of 3 GiB whole. It takes no space on the disk.
    truncateSync(large, 3 * 1024 ** 3);
    const { io, printed } = memoryIo({ files });
    const readFile: typeof io.readFile = (path, most) =>
      path === large ? systemIo.readFile(path, most) : io.readFile(path);
    try {
      const code = await main(['receipt', 'verify', large, ...verify.slice(2)], { ...io, readFile });
      expect([code, printed().err]).toEqual([1, 'refused: the file is larger than 4 MiB (envelope)\n']);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });

  it('prints every check as JSON, in order', async () => {
    const { code, out } = await run([...verify, '--project', 'shop', '--json']);
    const { checks, ...rest } = JSON.parse(out);
    expect(rest).toEqual({
      schemaVersion: 1,
      verified: true,
      failed: null,
      keyId: trusted.id,
      key: 'ci.pub',
      statement,
    });
    expect(checks.map(({ check }: { check: string }) => check)).toEqual(checkNames);
    for (const one of [
      { check: 'project', status: 'passed', reason: null },
      { check: 'environment', status: 'skipped', reason: null },
    ])
      expect(checks).toContainEqual(one);
    expect(code).toBe(0);
  });

  it('reads the receipt from standard input', async () => {
    const argv = verify.map((word) => (word === 'receipt.json' ? '-' : word));
    expect((await run(argv, { stdin: receipt })).code).toBe(0);
    expect((await run(argv, { stdin: '' })).code).toBe(1);
  });

  it.each([
    ['signature', { 'ci.pub': stranger.publicPem }, [], 'none of the trusted keys signed it'],
    ['subject', {}, ['--subject', `sha256:${'0'.repeat(64)}`], 'not "sha256:0000'],
    ['deployed', {}, ['--require-deployed'], 'did not check which build was deployed'],
    ['envelope', { 'receipt.json': JSON.stringify(statement) }, [], 'a statement without a signature'],
  ] as const)('exits with 1 and names the check: %s', async (check, more, options, reason) => {
    const result = await run([...verify, ...options], { files: more });
    expect(result.err).toMatch(new RegExp(`^refused: .*\\(${check}\\)\\n`));
    expect(result.err).toContain(reason);
    expect(result.code).toBe(1);
    const { out } = await run([...verify, ...options, '--json'], { files: more });
    expect(JSON.parse(out)).toMatchObject({ verified: false, failed: check, statement: null });
  });

  it('refuses a base URL with a query, and repeats no part of it', async () => {
    const { code, err } = await run([...verify, '--base-url', 'https://a:b@pr-7.example.com/?token=secret']);
    expect([code, err]).toEqual([
      64,
      'error: --base-url: its value is not valid\n  → give an http or https URL without user name, query and fragment\n',
    ]);
  });

  it('names every check that failed, the first one first', async () => {
    const { err } = await run([...verify, '--project', 'other', '--environment', 'dev']);
    expect(err).toMatch(/^refused: .*\(project\)\n {2}also: .*\(environment\)\n$/);
  });

  it.each(['failed', 'flaky'])('accepts %s as WARNED only with --allow-warned', async (verdict) => {
    const warned = changed(({ root, run: one }) => {
      Object.assign((root as typeof statement).predicate, { result: 'WARNED' });
      Object.assign(one, { result: 'WARNED', verdict });
    });
    const more = { files: { 'receipt.json': JSON.stringify(await sealed(JSON.stringify(warned))) } };
    expect(await run(verify, more)).toMatchObject({
      code: 1,
      err: `refused: its result is WARNED (result)\n  → the gate's policy lets "${verdict}" pass with a warning; to accept that, use --allow-warned (in the library: allowWarned)\n`,
    });
    expect(await run([...verify, '--allow-warned'], more)).toMatchObject({
      code: 0,
      err: expect.stringContaining('verified: WARNED'),
    });
  });

  it.each([
    [['verify', 'receipt.json', '--key', 'ci.pub'], 'nothing to compare the receipt with'],
    [
      [...verify, '--subject', 'ghcr.io/acme/shop:1.2'],
      '--subject: "ghcr.io/acme/shop:1.2" is not valid\n  → give name@sha256',
    ],
    [
      ['verify', 'receipt.json', '--key', 'ci.pub', '--commit', commit.slice(0, 12)],
      'give a full commit hash',
    ],
    [[...verify, '--key', 'ci.key'], '--key ci.key: it is a private key'],
    [[...verify, '--key', 'none.pub'], 'key: cannot read none.pub: no such file'],
    [[...verify, '--process', 'a', '--tag', 'b'], '--process and --tag cannot be combined'],
    [['verify', 'none.json', '--key', 'ci.pub', '--commit', commit], '<file>: cannot read none.json'],
  ])('exits with 64 for %j', async (argv, message) => {
    const { code, err, out } = await run(argv);
    expect({ code, out }).toEqual({ code: 64, out: '' });
    expect(err).toContain(message);
  });

  it.each([['--max-age', '1h']])(
    'refuses a second %s: an earlier one must not be lost',
    async (option, value) => {
      const argv = ['verify', 'receipt.json', '--key', 'ci.pub', option, value, option, value];
      const { code, err } = await run(argv);
      expect([code, err]).toEqual([64, `error: ${option} is given twice\n  → give it once\n`]);
    },
  );

  it('shows the texts of a receipt on one line, without escape sequences', async () => {
    const key = '\u001b[2J\n::set-output name=x::y';
    const hostile = changed(({ root }) => {
      const [, environment] = (root as typeof statement).predicate.configuration;
      Object.assign(environment, { annotations: { key } });
    });
    const more = { files: { 'receipt.json': JSON.stringify(await sealed(JSON.stringify(hostile))) } };
    const { out, err } = await run([...verify, '--environment', 'staging'], more);
    expect(out + err).not.toContain('\u001b');
    expect(err.split('\n')).toHaveLength(2);
  });
});

describe('receipt show', () => {
  it('prints the facts and says that nothing was verified', async () => {
    const { code, out, err } = await run(['show', 'receipt.json']);
    expect(out).toContain(`commit\t${commit}\n`);
    expect(out).toContain('environment\tstaging\n');
    expect(err).toMatch(
      /^warning: not verified: its signatures were not checked, and anyone can write such a file\n/,
    );
    expect(code).toBe(0);
  });

  it('does not let a text of the receipt control the terminal', async () => {
    const hostile = changed(({ run: one }) =>
      Object.assign(one, { project: '\u001b[2Jx\u202e', name: '##[error]' }),
    );
    const more = { files: { 'receipt.json': JSON.stringify(hostile) } };
    for (const argv of [[], ['--json'], ['--format', 'table']]) {
      const { out, err } = await run(['show', 'receipt.json', ...argv], more);
      expect(out + err).not.toMatch(/[\u001b\u202e]|##\[/);
    }
  });

  it.each(['', '[]', 'text', '{"payload":"x","payloadType":"y","signatures":[]}'])(
    'exits with 64 for %j',
    async (text) => {
      const { code, err } = await run(['show', 'receipt.json'], { files: { 'receipt.json': text } });
      expect([code, err]).toEqual([64, expect.stringContaining('receipt.json is not a receipt: ')]);
    },
  );
});

describe('receipt keygen', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'rungate-keygen-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));
  const read = (name: string) => readFileSync(join(folder, name), 'utf8');

  it('writes a key that only its owner may read, and its public key, and says what to do with them', async () => {
    const { code, out, err } = await run(['keygen', join(folder, 'ci'), '--json']);
    expect(code).toBe(0);
    expect(read('ci.key')).toMatch(/^-----BEGIN PRIVATE KEY-----\n.{64}\n-----END PRIVATE KEY-----\n$/);
    if (process.platform !== 'win32') expect(statSync(join(folder, 'ci.key')).mode & 0o777).toBe(0o600);
    const { keyFile, publicKeyFile, keyId } = JSON.parse(out);
    expect([keyFile, publicKeyFile]).toEqual([join(folder, 'ci.key'), join(folder, 'ci.pub')]);
    expect(err).toContain('as the secret RUNGATE_RECEIPT_KEY of your CI');
    expect(out + err).not.toContain(read('ci.key').split('\n')[1]);
    const more = {
      'receipt.json': JSON.stringify(await sealed(JSON.stringify(statement), read('ci.key'))),
      'ci.pub': read('ci.pub'),
    };
    const verified = await run([...verify, '--json'], { files: more });
    expect(JSON.parse(verified.out)).toMatchObject({ verified: true, keyId });
  });

  it.each(['ci.key', 'ci.pub'])('never overwrites %s, and then writes nothing', async (name) => {
    writeFileSync(join(folder, name), 'mine');
    const { code, err } = await run(['keygen', join(folder, 'ci')]);
    expect(code).toBe(64);
    expect(err).toContain('rungate does not overwrite keys');
    expect(readdirSync(folder)).toEqual([name]);
    expect(read(name)).toBe('mine');
  });
});
