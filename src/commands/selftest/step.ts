import { delimiter, join } from 'node:path';
import { UsageError } from '../../errors.ts';
import type { Io } from '../../host/io.ts';
import type { TemporaryFolder } from '../../host/paths.ts';
import { newCredentials } from '../../mock/auth.ts';
import { type MockServer, startMock } from '../../mock/server.ts';
import { exitCodeOfChild, mockEnvironment, withheld } from '../mock/commands.ts';
import { never, outcomeOf, type Scenario, type StepResult, selectorOf } from './scenarios.ts';

/** Files that the CI reads after the step. The step gets copies, so that it cannot affect the real build. */
const ciFiles = ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY', 'GITHUB_ENV', 'GITHUB_STATE', 'GITHUB_PATH'];

/** Variables for temporary folders. The step gets its own, so that the real step finds no journal of a run on the mock. */
const temporaryFolders = ['RUNNER_TEMP', 'AGENT_TEMPDIRECTORY', 'WORKSPACE_TMP', 'TEMP', 'TMP'];

/** The variables of a step on Windows with a package under test: Node and the script. */
const programVariables = ['RUNGATE_SELFTEST_PROGRAM', 'RUNGATE_SELFTEST_SCRIPT'] as const;

/** Writes the commands that put the `rungate` under test first on the step's path, and returns their folder. */
export function writeShims(
  folder: TemporaryFolder,
  { program, platform }: Pick<Io, 'program' | 'platform'>,
): string {
  const quoted = program.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  folder.write('bin/rungate', `#!/bin/sh\nexec ${quoted} "$@"\n`, 0o700);
  const [binary, script] = program;
  if (script !== undefined) {
    // cmd would expand a % in a path, and read letters beyond ASCII in the code page of the console.
    folder.write('bin/rungate.cmd', `@${programVariables.map((name) => `"%${name}%"`).join(' ')} %*\r\n`);
  } else if (binary !== undefined && platform === 'win32') {
    // A batch file goes on after an executable, but ends with a batch file that it does not call.
    folder.copy('bin/rungate.exe', binary);
  }
  return join(folder.path, 'bin');
}

function readTextFile(io: Pick<Io, 'readFile'>, path: string): string {
  try {
    return new TextDecoder().decode(io.readFile(path));
  } catch {
    return '';
  }
}

/** Returns the environment of a step: the real one with the settings of a mock, and without access to the real build. */
export function stepEnvironment(
  io: Pick<Io, 'env' | 'readFile' | 'makeFolder' | 'platform' | 'program'>,
  scenario: string,
  settings: Readonly<Record<string, string>>,
  folder: TemporaryFolder,
  shims: string,
): Io['env'] {
  const { env } = io;
  const isSet = (name: string) => env[name] !== undefined && env[name] !== '';
  const changed: Record<string, string> = {};
  for (const name of ciFiles) {
    if (env[name] !== undefined) changed[name] = folder.write(`${scenario}/${name}`, '');
  }
  const temporary = join(folder.path, scenario, 'tmp');
  io.makeFolder(temporary);
  for (const name of temporaryFolders) if (env[name] !== undefined) changed[name] = temporary;
  // In CircleCI, bash reads this file before each step, and steps append to it.
  if (isSet('BASH_ENV'))
    changed.BASH_ENV = folder.write(`${scenario}/BASH_ENV`, readTextFile(io, env.BASH_ENV ?? ''));
  if (io.platform === 'win32') {
    for (const [index, name] of programVariables.entries()) changed[name] = io.program[index] ?? '';
  }
  // Windows writes the name as `Path`.
  const path = Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
  changed[path] = isSet(path) ? `${shims}${delimiter}${env[path]}` : shims;
  // The mock runs on this machine, which a proxy cannot reach.
  changed.NO_PROXY = [...['NO_PROXY', 'no_proxy'].filter(isSet).map((name) => env[name]), '127.0.0.1'].join(
    ',',
  );
  changed.no_proxy = changed.NO_PROXY;
  // The profile would conflict with the mock.
  const unset = { ...withheld, RUNGATE_PROFILE: undefined };
  return { ...env, ...unset, ...changed, TMPDIR: temporary, ...settings, RUNGATE_SELFTEST: scenario };
}

export interface StepSetup {
  readonly io: Io;
  readonly command: readonly string[];
  readonly folder: TemporaryFolder;
  readonly shims: string;
  readonly limitMs: number;
  readonly signal: AbortSignal;
}

/** Long enough that a run is still going at its first status read, which is how the gate recognises a new run. */
const runMs = 400;
/** A URL at which nothing is listening: the port needs root. */
const nowhere = 'http://127.0.0.1:1';
const outputBytes = 64 * 1024;

async function startScenario(io: Io, scenario: Scenario): Promise<MockServer> {
  const { retryAfterSeconds, service } = scenario;
  const mock = await startMock({ clock: io.clock, retryAfterSeconds, duration: runMs, ...newCredentials() });
  mock.state.plan.outcomeOf = outcomeOf(scenario);
  if (service === 'refused') mock.state.credentials.clear();
  const always = Number.POSITIVE_INFINITY;
  const broken = { kind: 'status', status: 500, endpoint: 'run.status', times: always } as const;
  if (service === 'broken') {
    // As in `timeout`, the gate ends at once: it reads no earlier than the service asks. Others, such as `curl --retry`, would sleep.
    mock.faults.add({ ...broken, headers: { 'retry-after': String(never) }, userAgent: 'rungate' });
    mock.faults.add({ ...broken, headers: { 'retry-after': '1' } });
  }
  if (service === 'lost') {
    mock.faults.add({ kind: 'reset-after-commit', endpoint: 'run.trigger' });
    mock.faults.add({ kind: 'refused', forMs: always, endpoint: 'run.trigger' });
  }
  return mock;
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
