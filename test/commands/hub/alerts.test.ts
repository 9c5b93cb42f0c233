import { execFileSync, spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { read, yaml } from '../../docs/ci-job.ts';
import { isRedisMissing, startRedis } from '../../hub/redis.ts';
import { deliver, hub } from './running-hub.ts';

// `.ci/run` requires promtool, which is in Debian's package prometheus. Elsewhere the tests are skipped without it.
const isMissing = !process.env.REQUIRE_TOOLS && spawnSync('promtool', ['--version']).status !== 0;
const folder = fileURLToPath(new URL('../../../docs/hub', import.meta.url));

let scrape: string | undefined;
/** Returns the metrics of a hub with Redis, which is started once. */
async function scraped(): Promise<string> {
  if (scrape !== undefined) return scrape;
  const redis = isRedisMissing ? null : await startRedis();
  const env = redis === null ? {} : { RUNGATE_HUB_REDIS_URL: redis.url };
  const on = await hub(undefined, { env });
  await deliver(on.url, '{"run":"run_1"}');
  scrape = await (await fetch(`${on.url}/metrics`)).text();
  await on.stop();
  await redis?.stop();
  return scrape;
}

describe('the metrics', () => {
  it.skipIf(isMissing)('have no fault that promtool finds', async () => {
    const { stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: await scraped(),
      encoding: 'utf8',
    });
    const found = (stdout + stderr).split('\n').filter((line) => /error|rungate_/.test(line));
    expect(found).toEqual([]);
  });

  it.skipIf(isRedisMissing)('have every name that the alerts use', async () => {
    const rules = yaml(read('docs/hub/alerts.yml')).groups.flatMap(
      (group: { rules: { expr: string }[] }) => group.rules,
    );
    const used = new Set<string>(
      rules.flatMap(({ expr }: { expr: string }) => expr.match(/\b(?:rungate|process)_\w+/g) ?? []),
    );
    const exported = new Set(Array.from((await scraped()).matchAll(/^(\w+)[ {]/gm), ([, name]) => name));
    // It comes from /proc.
    if (process.platform !== 'linux') exported.add('process_open_fds').add('process_max_fds');
    expect([...used].filter((name) => !exported.has(name))).toEqual([]);
    expect(used.size).toBeGreaterThan(7);
  });

  it.skipIf(isRedisMissing)('are the table of docs/reference/hub.md', async () => {
    const shown = Array.from(
      read('docs/reference/hub.md').matchAll(/^\| `(rungate_hub_\w+)/gm),
      ([, name]) => name,
    );
    const exported = Array.from(
      (await scraped()).matchAll(/^# TYPE (rungate_hub_\w+)/gm),
      ([, name]) => name,
    );
    expect(shown.toSorted()).toEqual(exported.toSorted());
  });
});

it.skipIf(isMissing)('promtool accepts docs/hub/alerts.yml, and its tests pass', () => {
  for (const args of [
    ['check', 'rules', 'alerts.yml'],
    ['test', 'rules', 'alerts.test.yml'],
  ])
    expect(execFileSync('promtool', args, { cwd: folder, encoding: 'utf8' })).toMatch(/SUCCESS/);
});
