import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { exitCodes } from '../../src/exit.ts';
import { type Ended, type Launch, type Machine, machine } from './machine.ts';
import { modelService, type Service, type ServiceOptions } from './service.ts';

const first = [
  'gate',
  '--project',
  'shop',
  '--process',
  'web',
  '--slice',
  '20s',
  '--timeout',
  '120s',
  '--json',
];
const passes: ServiceOptions = { courses: { web: [{ end: 'passed', seconds: 50 }] } };

/** Runs commands on a machine. */
async function play(
  work: (on: Machine, service: Service) => Promise<void>,
  { options = passes, env }: { options?: ServiceOptions; env?: Record<string, string> } = {},
): Promise<void> {
  const service = modelService(options);
  const on = machine(service, env === undefined ? {} : { env });
  await on.during(work(on, service));
}

const nextOf = ({ out }: Ended): string[] => JSON.parse(out).next.slice(1);

/** Goes on until the end. */
async function end(on: Machine, begin: Ended, more: Omit<Launch, 'argv'> = {}): Promise<Ended> {
  let ended = begin;
  while (ended.code === exitCodes.waiting) ended = await on.launch({ argv: nextOf(ended), ...more });
  return ended;
}

const atCommit = (letter: string): Omit<Launch, 'argv'> => ({
  settings: { captured: (words) => (words.includes('HEAD^{commit}') ? letter.repeat(40) : null) },
});

test.each([
  ['passes', passes, exitCodes.ok, 1],
  [
    'passes after a retry',
    {
      courses: {
        web: [
          { end: 'failed', seconds: 25 },
          { end: 'passed', seconds: 30 },
        ],
      },
    },
    exitCodes.ok,
    2,
  ],
  ['fails', { courses: { web: [{ end: 'failed', seconds: 50 }] } }, exitCodes.failed, 2],
] as const)(
  'three loops that begin at the same time hold one gate, which %s',
  async (_name, options, code, runs) => {
    await play(
      async (on, service) => {
        const argv = [...first, '--retries', '1'];
        const begun = await Promise.all([1, 2, 3].map(() => on.launch({ argv })));
        const ended = await Promise.all(begun.map((one) => end(on, one)));
        expect(ended.map((one) => one.code)).toEqual([code, code, code]);
        expect(service.runs).toHaveLength(runs);
      },
      { options },
    );
  },
);

test('a commit between two slices does not change the run, and the end of the gate is its end at every commit', async () => {
  await play(async (on, service) => {
    const begun = await on.launch({ argv: first, ...atCommit('a') });
    const ended = await end(on, begun, atCommit('b'));
    expect(ended.code).toBe(exitCodes.ok);
    expect(service.runs.map(({ body }) => body.commitSha)).toEqual(['a'.repeat(40)]);
    await on.launch({ argv: first, ...atCommit('a') });
    expect(service.runs).toHaveLength(2);
  });
});

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'slice-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const job = () => ({
  ...{
    RUNNER_TEMP: folder,
    CI: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_RUN_ID: '7',
    GITHUB_JOB: 'test',
    GITHUB_ACTION: '__run',
  },
  ...{ GITHUB_REPOSITORY: 'o/shop', GITHUB_SHA: 'c'.repeat(40), GITHUB_RUN_ATTEMPT: '1' },
});

test.each([
  ['a re-run of the job', { GITHUB_RUN_ATTEMPT: '2' }],
  ['another pipeline', { GITHUB_RUN_ID: '8' }],
])('the verdict of a run that had ended before %s is not that of its gate', async (_name, change) => {
  await play(
    async (on, service) => {
      await on.launch({ argv: first });
      await on.pause(60_000);
      await on.launch({ argv: first, settings: { env: change } });
      expect(service.runs).toHaveLength(2);
    },
    { env: job() },
  );
});

test('a command of the same job joins the run of one that was killed', async () => {
  await play(
    async (on, service) => {
      await on.launch({ argv: first, kill: { afterMs: 5_000 } });
      await on.pause(60_000);
      const { code } = await on.launch({ argv: first });
      expect(code).toBe(exitCodes.ok);
      expect(service.runs).toHaveLength(1);
    },
    { env: job() },
  );
});
