import { constants } from 'node:os';
import { UsageError } from '../../errors.ts';
import { startMock } from '../../mock/server.ts';
import type { Context } from '../context.ts';
import { type MockFlags, mockOptions } from './flags.ts';
import { mockEnvironment } from './serve.ts';

/** What shells say of a command that is not there, or that may not be run. */
const notFound = 127;
const notExecutable = 126;

/**
 * `rungate mock exec -- <command…>`: runs a command with the settings of a mock in its environment, and exits
 * with its code.
 */
export async function execCommand(
  context: Context,
  command: readonly string[],
  flags: MockFlags,
): Promise<number> {
  const { io, output } = context;
  if (command.length === 0)
    throw new UsageError('no command to run', { hint: 'write: rungate mock exec -- <command>' });
  const mock = await startMock(mockOptions(flags, 0, io));
  try {
    const { code, signal } = await io.run(command, { ...io.env, ...withoutFiles, ...mockEnvironment(mock) });
    return code ?? 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0));
  } catch (error) {
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    await output.alert(`${command[0]}: ${missing ? 'command not found' : 'cannot be run'}`);
    return missing ? notFound : notExecutable;
  } finally {
    await mock.close();
  }
}

/** The user's own secrets by file would clash with the mock's by value, and are not for the mock to see. */
const withoutFiles = { RUNGATE_API_KEY_FILE: undefined, RUNGATE_TOKEN_FILE: undefined };
