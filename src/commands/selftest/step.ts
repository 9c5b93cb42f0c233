import { constants } from 'node:os';
import { UsageError } from '../../errors.ts';
import type { ChildResult } from '../../host/children.ts';
import type { Io } from '../../host/io.ts';
import type { TemporaryFolder } from '../../host/paths.ts';
import { type Mock, startMock } from '../../mock/server.ts';
import { mockEnvironment } from '../mock/serve.ts';
import { stepEnvironment } from './environment.ts';
import type { Scenario, StepResult } from './scenarios.ts';

/** What the step is run with in every scenario. */
export interface Stand {
  readonly io: Io;
  readonly command: readonly string[];
  readonly folder: TemporaryFolder;
  /** The folder of the `rungate` under test. */
  readonly shims: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** A run lasts longer than the first look at it: whoever looks whether it is an old one sees that it is not. */
const runMs = 400;
/** Nobody listens there: it takes an administrator to. */
const nowhere = 'http://127.0.0.1:1';
/** How much of the output is kept: the end of it. */
const keptBytes = 64 * 1024;

async function startScenario(io: Io, { outcome, retryAfterSeconds, service }: Scenario): Promise<Mock> {
  const mock = await startMock({ clock: io.clock, outcome, retryAfterSeconds, duration: runMs });
  if (service === 'refused') mock.state.credentials.clear();
  return mock;
}

function codeOf({ code, signal }: ChildResult): number {
  return code ?? 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0));
}

function notStarted(command: readonly string[], error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'EACCES') return error;
  const name = command[0];
  const [why, hint] =
    code === 'ENOENT'
      ? [
          'command not found',
          'write: rungate selftest -- ./step.sh, or: rungate selftest -- bash -c "<the step>"',
        ]
      : ['it is not executable', `run chmod +x ${name}, or name the shell: rungate selftest -- sh ${name}`];
  return new UsageError(`${name}: ${why}`, { hint, cause: error });
}

/** Runs the step once, against a mock that lives as long as that. */
export async function runStep(stand: Stand, scenario: Scenario): Promise<StepResult> {
  const { io, command, folder, shims, limitMs, signal } = stand;
  const mock = await startScenario(io, scenario);
  try {
    const settings = mockEnvironment(mock);
    if (scenario.service === 'down') settings.RUNGATE_API_URL = nowhere;
    const env = stepEnvironment(io, scenario.name, settings, folder, shims);
    let printed = Buffer.alloc(0);
    const onOutput = (bytes: Uint8Array) => {
      printed = Buffer.concat([printed, bytes]).subarray(-keptBytes);
    };
    const began = io.clock.monotonic();
    const ended = await io.runGroup(command, { env, limitMs, signal, onOutput });
    return {
      scenario,
      exitCode: codeOf(ended),
      seconds: Math.round((io.clock.monotonic() - began) / 100) / 10,
      runsCreated: mock.state.runs.size,
      endsRead: [...mock.state.runs.values()].filter(({ endShown }) => endShown === true).length,
      stopped: ended.stopped,
      leftBehind: ended.leftBehind,
      output: new TextDecoder().decode(printed),
    };
  } catch (error) {
    throw notStarted(command, error);
  } finally {
    await mock.close();
  }
}
