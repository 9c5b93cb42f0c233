import { constants } from 'node:os';
import { UsageError } from '../../errors.ts';
import type { ChildResult } from '../../host/children.ts';
import type { Io } from '../../host/io.ts';
import type { TemporaryFolder } from '../../host/paths.ts';
import { type MockServer, startMock } from '../../mock/server.ts';
import { mockEnvironment } from '../mock/commands.ts';
import { stepEnvironment } from './environment.ts';
import { failingFirst, selectorOf } from './gates.ts';
import { never, type Scenario, type StepResult } from './scenarios.ts';

export interface StepSetup {
  readonly io: Io;
  readonly command: readonly string[];
  readonly folder: TemporaryFolder;
  /** The folder of the `rungate` under test. */
  readonly shims: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Long enough that a run is still going at its first status read, which is how the gate recognises a new run. */
const runMs = 400;
/** A URL at which nothing is listening: the port needs root. */
const nowhere = 'http://127.0.0.1:1';
/** The size of the end of the output to keep. */
const outputBytes = 64 * 1024;

async function startScenario(io: Io, scenario: Scenario): Promise<MockServer> {
  const { retryAfterSeconds, service } = scenario;
  const mock = await startMock({ clock: io.clock, retryAfterSeconds, duration: runMs });
  mock.state.plan.outcomeOf = failingFirst(scenario);
  if (service === 'refused') mock.state.credentials.clear();
  // As in `timeout`, the gate ends at once: it reads no earlier than the service asks.
  const headers = { 'retry-after': String(never) };
  const always = Number.POSITIVE_INFINITY;
  if (service === 'broken')
    mock.faults.add({ kind: 'status', status: 500, headers, endpoint: 'run.status', times: always });
  if (service === 'lost') {
    mock.faults.add({ kind: 'reset-after-commit', endpoint: 'run.trigger' });
    mock.faults.add({ kind: 'refused', forMs: always, endpoint: 'run.trigger' });
  }
  return mock;
}

function exitCodeOfChild({ code, signal }: ChildResult): number {
  return code ?? 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0));
}

function notStarted({ io, command }: StepSetup, error: unknown): unknown {
  const { code } = error as NodeJS.ErrnoException;
  if (code !== 'ENOENT' && code !== 'EACCES') return error;
  const name = command[0];
  const [script, shell] = io.platform === 'win32' ? ['step.cmd', 'cmd /c'] : ['./step.sh', 'bash -c'];
  const [why, hint] =
    code === 'ENOENT'
      ? [
          'command not found',
          `use rungate selftest -- ${script}, or rungate selftest -- ${shell} "<the step>"`,
        ]
      : ['not executable', `run chmod +x ${name}, or use a shell: rungate selftest -- sh ${name}`];
  return new UsageError(`${name}: ${why}`, { hint, cause: error });
}

/** Runs the step once, against a new mock. */
export async function runScenario(setup: StepSetup, scenario: Scenario): Promise<StepResult> {
  const { io, command, folder, shims, limitMs, signal } = setup;
  const mock = await startScenario(io, scenario);
  try {
    const settings = mockEnvironment(mock);
    if (scenario.service === 'down') settings.RUNGATE_API_URL = nowhere;
    const env = stepEnvironment(io, scenario.name, settings, folder, shims);
    let printed = Buffer.alloc(0);
    const onOutput = (bytes: Uint8Array) => {
      printed = Buffer.concat([printed, bytes]).subarray(-outputBytes);
    };
    const began = io.clock.monotonic();
    const ended = await io.runGroup(command, { env, limitMs, signal, onOutput });
    const runs = [...mock.state.runs.values()];
    return {
      scenario,
      exitCode: exitCodeOfChild(ended),
      seconds: Math.round((io.clock.monotonic() - began) / 100) / 10,
      ran: runs.map(({ request: { processSlug, tags } }) => selectorOf(processSlug, tags)),
      runsCreated: runs.length,
      readByOthers: mock.requests.some(
        ({ endpoint, headers }) => endpoint === 'run.status' && headers['user-agent'] !== 'rungate',
      ),
      endsRead: runs.filter(({ endShown }) => endShown === true).length,
      stopped: ended.stopped,
      leftBehind: ended.leftBehind,
      output: new TextDecoder().decode(printed),
    };
  } catch (error) {
    throw notStarted(setup, error);
  } finally {
    await mock.close();
  }
}
