import { afterEach, describe, expect, it } from 'vitest';
import { environmentFact, type Statement } from '../../../src/receipt/statement.ts';
import { type Settings, type Stage, stage } from '../../cli/harness.ts';
import { commit, statement, trusted } from '../../receipt/table.ts';

let on: Stage | undefined;
afterEach(async () => {
  await on?.close();
  on = undefined;
});

const usual = {
  web: { tags: ['web'], needs: ['api'] },
  api: { process: 'api-smoke', environment: 'staging' },
};
const older = JSON.stringify(statement);
type Outcomes = Parameters<typeof stage>[0];

async function gate(gates: object, options: Outcomes, argv: readonly string[], more: object = {}) {
  on = await stage({ duration: 25_000, ...options });
  const project = JSON.stringify({ project: 'shop', gates });
  const files: Record<string, string> = {
    ...{ '/repo/.git': '', '/repo/.rungate.json': project, 'ci.pub': trusted.publicPem },
    ...more,
  };
  const settings: Settings = { cwd: '/repo', files, env: { RUNGATE_RECEIPT_KEY: trusted.privatePem } };
  const rungate = on.with(settings);
  const result = await rungate('gate', '--commit-sha', commit, ...argv);
  const verify = (...argv: string[]) =>
    rungate('receipt', 'verify', ...argv, '--key', 'ci.pub', '--commit', commit);
  const receipts = Object.keys(files).filter((path) => path.startsWith('r/'));
  const statementOf = (path: string): Statement =>
    JSON.parse(Buffer.from(JSON.parse(files[path] ?? '').payload, 'base64').toString());
  return { ...result, files, receipts: receipts.toSorted(), verify, statementOf };
}

describe('gate --receipt with several gates', () => {
  it('writes one receipt for each gate, which receipt verify --gate accepts together', async () => {
    const { code, receipts, verify, statementOf } = await gate(usual, {}, ['--receipt', 'r/']);
    expect([code, receipts]).toEqual([0, ['r/api.json', 'r/web.json']]);
    expect(await verify('r', '--gate', 'web', '--gate', 'api')).toMatchObject({ code: 0 });
    expect((await verify('r', '--gate', 'web', '--gate', 'ios')).code).toBe(1);
    const statements = ['r/api.json', 'r/web.json'].map(statementOf);
    const [api, web] = statements.map(({ predicate }) => predicate.configuration[0].annotations.rungate);
    expect(statements.map((one) => environmentFact(one, 'key'))).toEqual(['staging', null]);
    expect(api).toMatchObject({ gate: 'api', runs: [{ process: 'api-smoke' }] });
    expect(web).toMatchObject({ gate: 'web', runs: [{ tags: ['web'] }] });
    // Each has its own times: web starts after api has ended.
    expect(Date.parse(web?.startedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(api?.finishedAt ?? ''));
    expect(web?.finishedAt).not.toBe(api?.finishedAt);
  });

  it('writes none for a skipped gate, and removes older receipts of these gates first', async () => {
    const more = { 'r/web.json': older, 'r/other.json': older };
    const { code, receipts, err, verify } = await gate(
      usual,
      { outcome: 'failed' },
      ['--receipt', 'r/'],
      more,
    );
    expect([code, receipts]).toEqual([1, ['r/api.json', 'r/other.json']]);
    expect(err).toContain('no receipt was written to r/web.json: the gate was skipped');
    expect((await verify('r/api.json', '--gate', 'web')).code).toBe(1);
  });

  it('says that verify needs --allow-warned for a flaky gate', async () => {
    const outcome = ['failed', 'passed'] as const;
    const argv = ['--receipt', 'r/', '--retries', '1'];
    const { code, err, verify } = await gate({ api: { process: 'a' } }, { outcome }, argv);
    expect(code).toBe(0);
    expect(err).toContain('the receipt r/api.json is WARNED: receipt verify needs --allow-warned');
    expect((await verify('r', '--gate', 'api')).code).toBe(1);
    expect((await verify('r', '--gate', 'api', '--allow-warned')).code).toBe(0);
  });

  it.each<[string, object, string[], object, number, string]>([
    ['one file for two gates', usual, ['--receipt', 'r.json'], {}, 64, 'give a folder, in which each'],
    [
      'names that differ only in case',
      { web: { process: 'a' }, Web: { process: 'b' } },
      ['--receipt', 'r/'],
      {},
      78,
      'the receipts of the gates web and Web are one file on a file system that ignores case',
    ],
    [
      'a file that is not a receipt',
      usual,
      ['--receipt', 'r/'],
      { 'r/web.json': '{}' },
      78,
      'r/web.json exists and is not a receipt',
    ],
    ['a folder for --process', usual, ['--process', 'a', '--receipt', 'r/'], {}, 64, 'r/ is a folder'],
  ])('refuses %s before anything is sent', async (_what, gates, argv, more, code, message) => {
    const result = await gate(gates, {}, argv, more);
    expect([result.code, on?.mock.requests]).toEqual([code, []]);
    expect(result.err).toContain(message);
  });
});
