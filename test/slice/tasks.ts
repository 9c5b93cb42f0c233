import { endRun } from '../../src/mock/handlers/run.ts';
import type { Outcome } from '../../src/mock/runs.ts';
import type { MockOptions } from '../../src/mock/server.ts';
import { agentLoop, type Loop, repeat } from './agent-loop.ts';
import { betweenMs, openShell, type Shell, type Stop } from './shell.ts';

export const minute = 60_000;

export interface Task {
  /** The name on the page: the course of the gate. */
  name: string;
  /** The mock; its runs pass after 10 minutes unless it says otherwise. */
  mock?: MockOptions;
  options?: readonly string[];
  /** The gates of the project file; default: one gate from options. */
  gates?: object;
  readOnly?: boolean;
  /** When the shell stops the agent's commands. */
  stops?: readonly Stop[];
  /** Prepares the service. */
  prepare?(shell: Shell): void;
  code: number;
  /** The verdict of the run that decides, or the result of each gate. */
  verdict: string;
  runs: number;
  /** The latest end of the gate, in minutes; default: shortly after a run of 10 minutes. */
  endsBy?: number;
}

/** Gives each process of the project its own course. */
const courses =
  (of: Readonly<Record<string, readonly [outcome: Outcome, minutes: number]>>) =>
  ({ mock: { state } }: Shell) => {
    state.plan.outcomeOf = ({ processSlug }) => {
      const [outcome, minutes] = of[processSlug ?? ''] ?? ['stuck', 0];
      state.plan.durationMs = minutes * minute;
      return outcome;
    };
  };

const threeGates = {
  api: { process: 'api' },
  web: { process: 'web', needs: ['api'] },
  perf: { process: 'perf' },
};
const ownBuild = ['--deployed-is', 'new', '--deployed-timeout', '5m'];

export const tasks: readonly Task[] = [
  { name: 'the run passes', code: 0, verdict: 'passed', runs: 1 },
  { name: 'the run fails', mock: { outcome: 'failed' }, code: 1, verdict: 'failed', runs: 1 },
  {
    ...{ name: "the run is blocked, with a user's own `--idempotency-key`", mock: { outcome: 'blocked' } },
    options: ['--idempotency-key', 'the-agent-7'],
    ...{ code: 2, verdict: 'blocked', runs: 1 },
  },
  {
    name: 'someone cancels the run after 4 minutes',
    prepare({ mock: { state }, time }) {
      time.at(4 * minute, () => {
        for (const run of state.runs.values()) endRun(state, run, 'cancelled', 'not needed');
      });
    },
    ...{ code: 4, verdict: 'cancelled', runs: 1, endsBy: 4.25 },
  },
  {
    ...{ name: 'the run never ends, with `--timeout 5m`', mock: { outcome: 'stuck' } },
    options: ['--timeout', '5m'],
    ...{ code: 3, verdict: 'timeout', runs: 1, endsBy: 5 },
  },
  {
    ...{ name: 'three gates: one fails, one needs it, one passes', gates: threeGates },
    prepare: courses({ api: ['failed', 4], perf: ['passed', 10] }),
    ...{ code: 1, verdict: 'api fail, web skipped, perf pass', runs: 2 },
  },
  {
    ...{ name: 'two gates with `--fail-fast`, one fails', options: ['--fail-fast'] },
    gates: { api: { process: 'api' }, perf: { process: 'perf' } },
    prepare: courses({ api: ['failed', 4], perf: ['passed', 10] }),
    ...{ code: 1, verdict: 'api fail, perf fail', runs: 2, endsBy: 4.25 },
  },
  {
    ...{ name: '`--retries 2`: fails, then passes', options: ['--retries', '2'] },
    mock: { outcome: ['failed', 'passed'], duration: 4 * minute },
    ...{ code: 0, verdict: 'flaky', runs: 2, endsBy: 8.25 },
  },
  {
    ...{ name: '`--retries 2`: fails three times', options: ['--retries', '2'] },
    mock: { outcome: 'failed', duration: 4 * minute },
    ...{ code: 1, verdict: 'failed', runs: 3, endsBy: 12.25 },
  },
  {
    name: 'the service creates the run, but its responses are lost until a slice ends',
    mock: {
      faults: [
        // The request that follows the 429 is sent after 44 s.
        { kind: 'limited-seconds', seconds: 35, endpoint: 'run.trigger' },
        { kind: 'reset-after-commit', endpoint: 'run.trigger', times: 3 },
      ],
    },
    ...{ code: 0, verdict: 'passed', runs: 1, endsBy: 11 },
  },
  {
    name: 'no connection for 3 minutes',
    mock: { faults: [{ kind: 'reset', fromMs: 4 * minute, untilMs: 7 * minute, times: Infinity }] },
    ...{ code: 0, verdict: 'passed', runs: 1 },
  },
  {
    name: 'each status read is refused for 3 minutes, with `Retry-After: 20`',
    mock: {
      faults: [
        {
          ...{ kind: 'limited-seconds', seconds: 20, endpoint: 'run.status' },
          ...{ fromMs: 4 * minute, untilMs: 7 * minute, times: Infinity },
        },
      ],
    },
    // A service that has refused reads gets longer intervals, in all slices.
    ...{ code: 0, verdict: 'passed', runs: 1, endsBy: 11 },
  },
  {
    name: 'SIGKILL while the service creates the run',
    mock: { outcome: 'failed', faults: [{ kind: 'stall-body', endpoint: 'run.trigger' }] },
    stops: [{ call: 1, at: 'created', by: 'SIGKILL' }],
    ...{ code: 1, verdict: 'failed', runs: 1 },
  },
  {
    name: 'SIGKILL during the wait, twice',
    mock: { outcome: 'failed' },
    stops: [
      { call: 1, at: 20_000, by: 'SIGKILL' },
      { call: 4, at: 33_000, by: 'SIGKILL' },
    ],
    ...{ code: 1, verdict: 'failed', runs: 1 },
  },
  {
    name: 'SIGKILL after the end of the run was read',
    mock: { outcome: 'failed' },
    stops: [{ at: 'before the result', by: 'SIGKILL' }],
    ...{ code: 1, verdict: 'failed', runs: 1 },
  },
  {
    name: 'SIGKILL after the result was printed',
    stops: [{ at: 'after the result', by: 'SIGKILL' }],
    ...{ code: 0, verdict: 'passed', runs: 1 },
  },
  {
    name: 'SIGTERM during the wait',
    stops: [{ call: 3, at: 20_000, by: 'SIGTERM' }],
    ...{ code: 0, verdict: 'passed', runs: 1 },
  },
  {
    ...{ name: 'the expected build appears after 2 minutes', mock: { deployed: 'old,new@2m' } },
    options: ownBuild,
    ...{ code: 0, verdict: 'passed', runs: 1, endsBy: 12.25 },
  },
  {
    name: 'another build appears in one slice and is gone in the next',
    mock: { deployed: 'new,other@5m,new@330s' },
    options: ownBuild,
    ...{ code: 8, verdict: 'mismatch', runs: 1 },
  },
  {
    ...{ name: 'the state folder cannot be written', mock: { outcome: 'failed' }, readOnly: true },
    ...{ code: 78, verdict: 'none', runs: 0 },
  },
];

export interface Played extends Loop {
  verdict: string;
  /** How many runs the service has created. */
  runs: number;
  minutes: number;
  isRight: boolean;
}

interface ShownRun {
  verdict: string | null;
  decides?: boolean;
}

/** Returns the verdict in a printed result, as a task names it. */
function verdictIn(out: string): string {
  if (out === '') return 'none';
  const { runs = [], gates } = JSON.parse(out) as {
    runs?: ShownRun[];
    gates?: { name: string; result: string }[];
  };
  if (gates !== undefined) return gates.map(({ name, result }) => `${name} ${result}`).join(', ');
  return runs.find(({ decides }) => decides !== false)?.verdict ?? 'none';
}

async function playIn(
  task: Task,
  stops: readonly Stop[],
  hold: (shell: Shell) => Promise<Loop>,
): Promise<Played> {
  const shell = await openShell({ ...task, mock: { duration: 10 * minute, ...task.mock }, stops });
  const { mock, time } = shell;
  try {
    task.prepare?.(shell);
    const loop = await hold(shell);
    const verdict = loop.code === null ? 'none' : verdictIn(loop.out);
    return {
      ...{ ...loop, verdict, isRight: loop.code === task.code && verdict === task.verdict },
      ...{ runs: mock.state.runs.size, minutes: (time.clock.monotonic() - betweenMs) / minute },
    };
  } finally {
    await shell.close();
  }
}

function commandOf({ options = [], gates }: Task, { mock }: Shell, ...more: readonly string[]): string[] {
  const what = gates === undefined ? ['--project', 'shop', '--process', 'checkout'] : [];
  const page = options === ownBuild ? ['--deployed-url', `${mock.url}/_mock/version`] : [];
  return ['rungate', 'gate', ...what, ...options, ...page, '--json', ...more];
}

/** The limit of the shell, after which it stops a command. */
export const shellLimitMs = 120_000;
const mostTries = 6;

/** Plays a task with slices of 45 s. */
export const playSlices = (task: Task) =>
  playIn(task, [...(task.stops ?? []), { at: shellLimitMs, by: 'SIGKILL' }], (shell) =>
    agentLoop(commandOf(task, shell, '--slice', '45s'), shell.call),
  );

/** Plays a task without slices: the same command again, until it exits by itself. */
export const playPlain = (task: Task, by: Stop['by']) =>
  playIn(task, [...(task.stops ?? []), { at: shellLimitMs, by }], (shell) =>
    repeat(commandOf(task, shell), shell.call, mostTries),
  );
