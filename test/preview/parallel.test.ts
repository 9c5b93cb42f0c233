import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { exitCodes } from '../../src/exit.ts';
import { machine } from '../slice/machine.ts';
import type { Course } from '../slice/service.ts';
import { ciJob } from './job.ts';
import { hasEnded, isAlive, origin, previewService, type ServiceOptions } from './service.ts';

const folder = mkdtempSync(join(tmpdir(), 'rungate-preview-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const ends: Course['end'][] = ['passed', 'failed', 'passed', 'passed', 'failed', 'passed', 'never'];
/** The last read before the timeout may meet the rate limit. */
const codesOf = (end: Course['end'], isLimited: boolean) =>
  ({
    ...{ passed: [exitCodes.ok], failed: [exitCodes.failed] },
    never: isLimited ? [exitCodes.timeout, exitCodes.service] : [exitCodes.timeout],
  })[end as 'passed' | 'failed' | 'never'];

/** Starts jobs at the same time, the last two of which are the cells of a matrix for one deployment. */
async function jobs(count: number, limits: NonNullable<ServiceOptions['limits']> | null) {
  const cells = Array.from({ length: count }, (_, at) => ({
    at,
    baseUrl: `https://pr-${Math.min(at, count - 2)}.test/`,
    end: ends[at % ends.length] as Course['end'],
  }));
  const service = previewService({
    ...{ limits, latencies: [40, 130, 310, 70, 520] },
    courses: Object.fromEntries(
      cells.map(({ at, end }) => [`web-${at}`, [{ end, seconds: 5 + ((at * 7) % 90) }]]),
    ),
  });
  service.plant({ key: 'staging', name: 'Staging', baseUrl: 'https://staging.test' }, { USER: 'u' });
  const others = Array.from({ length: 44 }, (_, at) =>
    service.plant({ key: `other-${at}`, name: `Other ${at}` }),
  );
  const on = machine(service);
  const work = async () => {
    let isDone = false;
    // Others create and delete environments, so the pages shift.
    const change = async () => {
      for (let at = 0; !isDone; at += 1) {
        await on.pause(limits === null ? 700 : 5_000);
        const other = others[at % others.length];
        if (other !== undefined) other.deletedAt = Math.min(other.deletedAt, on.now());
        if (at % 2 === 0) others.push(service.plant({ key: `later-${at}`, name: `Later ${at}` }));
      }
    };
    const changing = change();
    const ended = await Promise.all(
      cells.map(({ at, baseUrl }) => {
        const ready = `${baseUrl}ready-${at}`;
        const inputs = {
          ...{
            'api-url': origin,
            project: 'shop',
            process: `web-${at}`,
            'base-url': baseUrl,
            'ready-url': ready,
          },
          ...{
            environment: 'staging',
            'copy-variables': String(at % 5 === 0),
            'cancel-on-timeout': 'true',
            timeout: '30m',
            interval: '20s',
          },
          ...(at >= count - 2 && { matrix: JSON.stringify({ browser: at }) }),
        };
        return ciJob(on, { inputs, folder, job: at >= count - 2 ? 'matrix' : `e2e-${at}` }).main();
      }),
    );
    isDone = true;
    await changing;
    return ended;
  };
  const ended = await on.during(work());
  return {
    cells,
    ended,
    ...service,
    own: service.environments.filter(({ by }) => by !== null),
    now: on.now(),
  };
}

it.each([
  ['20 creates, 60 reads and 100 requests a minute in all', { creates: 20, reads: 60, all: 100 }],
  ['as much as all want', null],
])('50 gates in parallel each test their own deployment, with %s', async (_, limits) => {
  const { cells, ended, runs, own, requests, now } = await jobs(50, limits);
  for (const [at, { baseUrl, end }] of cells.entries()) {
    const { id, code, err } = ended[at] as (typeof ended)[number];
    expect(codesOf(end, limits !== null), err).toContain(code);
    const [run, ...more] = runs.filter(({ gate }) => gate === `web-${at}`);
    expect(more).toEqual([]);
    expect(`${run?.environment?.fields.baseUrl}/`).toBe(baseUrl);
    expect(run?.environment?.by).toBe(id);
    expect(run && hasEnded(run, run.environment?.deletedAt ?? 0)).toBe(true);
    const deleted = requests.filter(
      ({ method, by, status }) => method === 'DELETE' && by === id && status === 200,
    );
    expect(deleted.map(({ path }) => path.split('/').at(-1))).toEqual([run?.environment?.id]);
  }
  expect(new Set(own.map(({ key }) => key)).size).toBe(50);
  expect(own).toHaveLength(50);
  expect(own.filter((one) => isAlive(one, now))).toEqual([]);
});
