import { describe, expect, it } from 'vitest';
import { gateStatement } from '../../src/receipt/gate-statement.ts';
import { examine } from '../../src/receipt/verify.ts';
import { gate, run } from '../ci/reports/samples.ts';
import { read, snippets } from '../docs/ci-job.ts';
import { commit, finishedAt, image, statement } from './table.ts';

const page = 'docs/project/receipt-format.md';

describe(page, () => {
  it('shows the statement that a gate writes', () => {
    const [{ annotations }] = statement.predicate.configuration;
    const { name, project, process, appUrl } = annotations.rungate.runs[0];
    const written = gateStatement(
      gate([run({ name, project, process, appUrl, verdict: 'passed', failed: 0, blocked: 0 })]),
      {
        commit,
        subjects: [image],
        gate: 'web',
        repository: 'acme/shop',
        ref: 'main',
        environment: 'staging',
        baseUrl: null,
        buildUrl: 'https://ci.example.com/builds/1',
        apiUrl: 'https://service.example.com',
        policy: { passed: 'pass', failed: 'fail' },
        startedAt: Date.parse('2026-11-22T11:58:00.000Z'),
        finishedAt: Date.parse(finishedAt),
      },
    );
    const [shown] = snippets(page).filter(({ language }) => language === 'json');
    // The order of the fields is that of the bytes that are signed.
    expect(JSON.stringify(JSON.parse(shown?.text ?? ''))).toBe(JSON.stringify(written));
  });

  it('lists the checks in their order', async () => {
    const { checks } = await examine(new Uint8Array(), { keys: [], now: 0 });
    const [, section = ''] = read(page).split('## Checks');
    const listed = [...(section.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` /gm)].map(
      ([, check]) => check,
    );
    expect(listed).toEqual(checks.map(({ check }) => check));
  });
});
