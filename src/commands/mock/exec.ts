import { constants } from 'node:os';
import { UsageError } from '../../errors.ts';
import { startMock } from '../../mock/server.ts';
import type { Context } from '../context.ts';
import { noHub } from '../run/hub.ts';
import { type MockFlags, mockOptions } from './flags.ts';
import { mockEnvironment } from './serve.ts';

/** The exit codes of shells for a command that does not exist, or that cannot be executed. */
const notFound = 127;
const notExecutable = 126;

/** Gives the command the settings of a mock in its environment. Returns the command's exit code. */
export async function execCommand(
  context: Context,
  command: readonly string[],
  flags: MockFlags,
): Promise<number> {
  const { io, output } = context;
  if (command.length === 0)
    throw new UsageError('no command to run', { hint: 'add it after --: rungate mock exec -- <command>' });
  const mock = await startMock(mockOptions(flags, 0, io));
  try {
    const { code, signal } = await io.run(command, { ...io.env, ...withheld, ...mockEnvironment(mock) });
    return code ?? 128 + (signal === null ? 0 : (constants.signals[signal] ?? 0));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    const missing = (error as NodeJS.ErrnoException).code === 'ENOENT';
    await output.alert(`${command[0]}: ${missing ? 'command not found' : 'cannot be run'}`);
    return missing ? notFound : notExecutable;
  } finally {
    await mock.close();
  }
}

/**
 * The user's secrets from files would conflict with those of the mock, and the command must not get them. A hub shares the
 * limits of the real service.
 */
const withheld = {
  RUNGATE_API_KEY_FILE: undefined,
  RUNGATE_TOKEN_FILE: undefined,
  RUNGATE_HUB_URL: noHub,
  RUNGATE_HUB_TOKEN: undefined,
  RUNGATE_HUB_TOKEN_FILE: undefined,
};
