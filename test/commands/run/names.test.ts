import { afterEach, describe, expect, it } from 'vitest';
import { type Stage, stage, trigger } from '../../cli/harness.ts';

let on: Stage;
afterEach(() => on?.close());

const reports = ['--junit', 'junit.xml', '--report', 'gate.md', '--json'];

/** Returns a command's JSON and the names of its test cases. */
async function named(...argv: string[]) {
  const files: Record<string, string> = {};
  const { code, out, err } = await on.with({ files })(...argv, ...reports);
  const junit = files['junit.xml'] ?? '';
  const cases = [...junit.matchAll(/<testcase name="([^"]*)" classname="([^"]*)"/g)].map((one) =>
    one.slice(1),
  );
  return {
    code,
    err,
    junit,
    cases,
    summary: files['gate.md'],
    runs: out === '' ? [] : JSON.parse(out).runs,
  };
}

describe('a run that is triggered', () => {
  it('takes its name from its project and process in JSON, JUnit, the summary and the log', async () => {
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
  });
});

describe('a line of progress', () => {
  it('has the name of a triggered run, and its id once', async () => {
    on = await stage({ outcome: 'passed', duration: 15_000 });
    const { err } = await on.rungate(...trigger, '--wait');
    const [id] = on.mock.state.runs.keys();
    expect(err.split('\n').slice(0, 3)).toEqual([
      expect.stringMatching(new RegExp(`^created run: ${id} \\(shop / checkout\\) https://`)),
      'shop / checkout: in_progress after 0 ms (0 failed, 0 blocked)',
      expect.stringMatching(/^shop \/ checkout: completed after \d\d s \(0 failed, 0 blocked\)$/),
    ]);
  });
});

describe('a run that is only waited for', () => {
  const started = async () => (await on.rungate(...trigger)).out.trim();

  it('has its id as its name', async () => {
    on = await stage({ outcome: 'passed' });
    const id = await started();
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
  ])('refuses %s before anything is sent', async (_what, argv, message) => {
    on = await stage();
    const { code, err } = await on.rungate('run', 'wait', ...argv);
    expect(code).toBe(64);
    expect(err).toMatch(message);
    expect(on.mock.requests).toEqual([]);
  });
});
