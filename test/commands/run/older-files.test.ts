import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Stage, stage } from '../../cli/harness.ts';
import { commit, sealed, statement, trusted } from '../../receipt/table.ts';

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
