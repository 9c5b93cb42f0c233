import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import {
  exitCodeOf,
  type GatesEvent,
  type GatesOptions,
  gates,
  type Mock,
  type MockOptions,
  type NamedGate,
  startMock,
} from '../../src/index.ts';
import { cli } from '../cli/harness.ts';
import { type FakeClock, fakeClock } from '../fake-clock.ts';
import { startMockAgain } from '../start-mock-again.ts';

let mock: Mock;
let clock: FakeClock;
afterEach(() => mock?.close());

async function play(options: MockOptions = {}): Promise<void> {
  clock = fakeClock();
  mock = await startMock({ clock, ...options });
}

const of = (processSlug: string, more: Partial<NamedGate> = {}): NamedGate => ({
  trigger: { projectSlug: 'shop', processSlug },
  ...more,
});
const usual = {
  web: of('web', { needs: ['api'] }),
  api: of('api-smoke'),
  perf: of('perf', { needs: ['web'], advisory: true }),
};
const run = (own: Partial<GatesOptions> = {}) =>
  gates({ apiUrl: mock.url, apiKey: mock.apiKey, clock, random: () => 0.5, gates: usual, ...own });
const short = (report: Awaited<ReturnType<typeof gates>>) =>
  report.gates.map(({ name, result, exitCode }) => [name, result, exitCode]);

describe('gates', () => {
  it('returns what rungate gate prints, with the same keys in a CI job', async () => {
    const outcome = 'failed';
    const folder = mkdtempSync(join(tmpdir(), 'rungate-gates-'));
    const job = { GITHUB_ACTIONS: 'true', GITHUB_REPOSITORY: 'acme/shop', GITHUB_RUN_ID: '77' };
    const env = { ...job, GITHUB_RUN_ATTEMPT: '1', GITHUB_JOB: 'gate', RUNNER_TEMP: folder };
    await play({ outcome, seed: 7 });
    const { url, apiKey } = mock;
    const report = await run({
      env,
      maxAttempts: 5,
      gates: { ...usual, api: of('api-smoke', { retries: 1 }) },
    });
    await mock.close();
    rmSync(folder, { recursive: true });

    clock = fakeClock();
    mock = await startMockAgain({ clock, outcome, seed: 7, port: Number(new URL(url).port) });
    const file = {
      project: 'shop',
      maxAttempts: 5,
      gates: {
        web: { process: 'web', needs: ['api'] },
        api: { process: 'api-smoke', retries: 1 },
        perf: { process: 'perf', needs: ['web'], advisory: true },
      },
    };
    const printed = await cli(['gate', '--json'], {
      env: { ...env, RUNGATE_API_URL: url, RUNGATE_API_KEY: apiKey },
      clock,
      cwd: '/repo',
      files: { '/repo/.git': '', '/repo/.rungate.json': JSON.stringify(file) },
    });
    rmSync(folder, { recursive: true, force: true });
    expect(JSON.parse(printed.out)).toEqual(report);
    expect(printed.code).toBe(report.exitCode);
  });

  it('applies the options of all gates to a gate that does not set them', async () => {
    await play({ outcome: 'cancelled', duration: 0 });
    const report = await run({
      strict: true,
      on: { cancelled: 'fail', failed: 'warn' },
      gates: {
        all: of('a'),
        own: of('b', { strict: undefined, on: { cancelled: 'pass', failed: undefined } }),
        lenient: of('c', { strict: false }),
      },
    });
    expect(short(report)).toEqual([
      ['all', 'fail', 4],
      ['own', 'pass', 0],
      ['lenient', 'warn', 0],
    ]);
  });
});

describe('gates with invalid options are refused before anything is sent:', () => {
  const two = (api: Partial<NamedGate>, web: Partial<NamedGate> = {}) => ({
    gates: { api: of('api', api), web: of('web', web) },
  });
  it.each<[string, Partial<GatesOptions>, RegExp]>([
    ['no gates', { gates: {} }, /gates is empty/],
    // The literal sets the prototype, so the gate has no name.
    [
      'a gate named __proto__ in a literal',
      { gates: { __proto__: of('a'), b: of('b') } as never },
      /must be an object/,
    ],
    [
      'a control character in a name',
      { gates: { 'a\u001b[2J': of('a') } },
      /"a\\u001b\[2J" is not the name of a gate/,
    ],
    [
      'a body with a process and tags',
      two({}, { trigger: { projectSlug: 's', processSlug: 'p', tags: ['a'] } as never }),
      /gate web: .*cannot be combined/,
    ],
    ['a need that an object inherits', two({ needs: ['constructor'] }), /"constructor", which is not a gate/],
    ['no API key', { apiKey: undefined }, /needs an API key/],
  ])('%s', async (_name, options, message) => {
    await play();
    const error = await run(options).catch((caught: unknown) => caught);
    expect(String(error)).toMatch(message);
    expect([64, 78, 6]).toContain(exitCodeOf(error));
    expect(mock.requests).toEqual([]);
  });
});

describe('an abort of gates', () => {
  it('before the call sends nothing, and skips every gate', async () => {
    await play();
    const report = await run({ signal: AbortSignal.abort() });
    expect(report).toMatchObject({
      result: 'fail',
      exitCode: 130,
      interruptedBy: 'abort',
      cancellation: 'none',
    });
    expect(report.gates.map(({ result }) => result)).toEqual(['skipped', 'skipped', 'skipped']);
    expect(mock.requests).toEqual([]);
  });

  it('while the gates begin cancels every run that was created', async () => {
    await play({ outcome: 'stuck' });
    const stop = new AbortController();
    const report = await run({
      gates: { api: of('api'), web: of('web'), later: of('later', { needs: ['api'] }) },
      signal: stop.signal,
      onProgress: ({ type }) => (type === 'created' ? stop.abort('SIGTERM') : undefined),
    });
    expect(report).toMatchObject({ result: 'fail', exitCode: 143, interruptedBy: 'SIGTERM' });
    expect(report.gates.map(({ result }) => result)).toEqual(['fail', 'fail', 'skipped']);
    expect(mock.runs.length).toBeGreaterThan(0);
    for (const { state, runId } of mock.runs) {
      expect(state).toBe('cancelled');
      expect(JSON.stringify(report)).toContain(runId);
    }
  });
});

describe('onProgress of gates', () => {
  it('receives the name of the gate with each event, and the result of each gate', async () => {
    await play({ outcome: 'failed', duration: 0 });
    const events: GatesEvent[] = [];
    const report = await run({ onProgress: (event) => events.push(event) });
    expect(events.map((event) => [event.type, event.gate])).toEqual([
      ['created', 'api'],
      ['read', 'api'],
      ['gate', 'api'],
      ['gate', 'web'],
      ['gate', 'perf'],
    ]);
    const results = events.flatMap((event) => (event.type === 'gate' ? event.report : []));
    expect(results).toEqual(report.gates);
  });
});

describe('the options of gates', () => {
  it('may change during the call without an effect', async () => {
    await play({ outcome: 'failed', duration: 0 });
    const options = {
      apiUrl: mock.url,
      apiKey: mock.apiKey,
      clock,
      on: { blocked: 'warn' as 'warn' | 'fail' },
      gates: {
        api: {
          trigger: { projectSlug: 'shop', tags: ['a'] },
          needs: [] as string[],
          advisory: false,
          on: {},
        },
        web: { trigger: { projectSlug: 'shop', tags: ['b'] }, needs: ['api'] },
      },
    };
    const running = gates(options);
    const { api, web } = options.gates;
    api.trigger.tags.push('c');
    Object.assign(api, { advisory: true });
    Object.assign(api.on, { failed: 'pass' });
    web.needs.pop();
    Object.assign(options, { apiKey: 'other', gates: {} });
    const report = await running;
    expect(short(report)).toEqual([
      ['api', 'fail', 1],
      ['web', 'skipped', null],
    ]);
    expect(mock.runs).toMatchObject([{ request: { tags: ['a'] } }]);
  });
});
