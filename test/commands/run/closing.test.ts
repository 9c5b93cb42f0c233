import { describe, expect, it } from 'vitest';
import type { Context } from '../../../src/commands/context.ts';
import { printClosing } from '../../../src/commands/run/closing.ts';
import { unnamed } from '../../../src/gate/plan/plan.ts';
import { type Overrides, resolvePolicy } from '../../../src/gate/policy.ts';
import { unknownRun } from '../../../src/gate/report.ts';
import type { RunReport } from '../../../src/gate/result-types.ts';
import type { EndEvent } from '../../../src/library/reporter.ts';
import type { Flags } from '../../../src/options/table.ts';
import type { Output } from '../../../src/output/output.ts';
import { rulesOf } from '../../gate/rules.ts';

/** Returns the lines after a gate whose last run has not ended in time. */
async function linesAfter(
  runId: string,
  flags: Flags,
  name = unnamed,
  settings = {},
  on: Overrides = {},
  earlier: readonly RunReport[] = [],
  reads: readonly object[] = [],
) {
  const lines: string[] = [];
  const run = unknownRun({ runId, name: 'shop / web', state: 'in_progress', verdict: 'timeout' });
  const gate = {
    ...{ name, needs: [], advisory: false, settings, runIds: [] },
    rules: rulesOf({ policy: resolvePolicy({ strict: true, on }), timeoutMs: 60_000 }),
  };
  const runs = [...earlier, run];
  const parts = { schemaVersion: 1, result: 'fail', exitCode: 3 } as const;
  const report = name === unnamed ? { ...parts, runs } : { ...parts, gates: [{ name, runs }] };
  const end = {
    report: { ...report, deployed: { reads } },
    exitCode: 3,
    runs: () => ({ ...parts, runs }),
  } as unknown as EndEvent;
  const output = {
    alert: async (line: string) => void lines.push(line),
    excerpt: (text: string) => text,
  } as unknown as Output;
  const context = { flags, output, io: { platform: 'linux' } } as unknown as Context;
  await printClosing(end, [gate], context);
  return lines;
}

const commit = '0123456789'.repeat(4);

describe('the command that goes on waiting', () => {
  it('takes no id of the service for an option', async () => {
    expect(await linesAfter('--api-url=https://evil.test', {})).toEqual([
      'to go on waiting: rungate run wait --strict --timeout 1m -- --api-url=https://evil.test',
    ]);
  });

  it('quotes an id for the shell', async () => {
    expect(await linesAfter("$(id)'`x`", {})).toEqual([
      "to go on waiting: rungate run wait '$(id)'\\''`x`' --strict --timeout 1m",
    ]);
  });

  it('is about the commit of --commit-sha, and writes no receipt about another', async () => {
    const url = { value: 'https://shop.test/version', origin: 'flag' };
    const flags = { commitSha: commit, receipt: 'receipt.json', deployedUrl: url.value };
    expect(await linesAfter('run_1', flags, unnamed, { 'deployed.url': url })).toEqual([
      `to go on waiting: rungate run wait run_1 --strict --timeout 1m --deployed-url ${url.value} --deployed-is ${commit}`,
    ]);
    expect(await linesAfter('run_1', { receipt: 'receipt.json' })).toEqual([
      'to go on waiting: rungate run wait run_1 --strict --timeout 1m --receipt receipt.json',
    ]);
  });

  it('is missing if the gate has failed already, because an earlier run failed and flaky=fail', async () => {
    const failed = unknownRun({ runId: 'run_0', verdict: 'failed', decides: false });
    expect(await linesAfter('run_1', {}, unnamed, {}, { flaky: 'fail' }, [failed])).toEqual([]);
    expect(await linesAfter('run_1', {}, unnamed, {}, {}, [failed])).toHaveLength(1);
  });

  it('does not show the query of the version page, which may have a secret', async () => {
    const [line] = await linesAfter('run_1', { deployedUrl: 'https://shop.test/version?token=abc' });
    expect(line).toMatch(/ --deployed-url 'https:\/\/shop\.test\/version\?…'$/);
  });
});
