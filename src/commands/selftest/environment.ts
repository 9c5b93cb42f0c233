import { delimiter, join } from 'node:path';
import type { Io } from '../../host/io.ts';
import type { TemporaryFolder } from '../../host/paths.ts';
import { withheld } from '../mock/commands.ts';

/** Files that the CI reads after the step. The step gets copies, so that it cannot affect the real build. */
const ciFiles = ['GITHUB_OUTPUT', 'GITHUB_STEP_SUMMARY', 'GITHUB_ENV', 'GITHUB_STATE', 'GITHUB_PATH'];

/** Variables for temporary folders. The step gets its own, so that the real step finds no journal of a run on the mock. */
const temporaryFolders = ['RUNNER_TEMP', 'AGENT_TEMPDIRECTORY', 'WORKSPACE_TMP', 'TEMP', 'TMP'];

/** The variables of a step on Windows with the program under test. */
const programVariables = ['RUNGATE_SELFTEST_NODE', 'RUNGATE_SELFTEST_CLI'] as const;

/** Writes the commands that put the `rungate` under test first on the step's path, and returns their folder. */
export function writeShims(folder: TemporaryFolder, program: readonly string[]): string {
  const quoted = program.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ');
  folder.write('bin/rungate', `#!/bin/sh\nexec ${quoted} "$@"\n`, 0o700);
  // cmd would expand a % in a path, and read letters beyond ASCII in the code page of the console.
  folder.write('bin/rungate.cmd', `@${programVariables.map((name) => `"%${name}%"`).join(' ')} %*\r\n`);
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
  // The profile would conflict with the mock, and the journal is for real runs only.
  const unset = { ...withheld, RUNGATE_PROFILE: undefined, RUNGATE_JOURNAL: undefined };
  return { ...env, ...unset, ...changed, TMPDIR: temporary, ...settings, RUNGATE_SELFTEST: scenario };
}
