import { exitCodes } from '../exit.ts';
import { type Io, leave, systemIo } from '../host/io.ts';
import { endProcessOne, onBug } from '../host/process-events.ts';
import { main } from './main.ts';

/** Runs one command, and ends this process with its exit code. `how` says how the process was started. */
export async function start(
  argv: readonly string[],
  how: Partial<Pick<Io, 'program' | 'version'>> = {},
): Promise<void> {
  onBug(exitCodes.bug);
  endProcessOne();
  const code = await main(argv, { ...systemIo, ...how });
  // Completion must not keep the user waiting: its output is complete, and a DNS lookup cannot be cancelled.
  const isCompletion = argv[0] === 'completion' && argv[1] === '--complete';
  await leave(code, isCompletion);
}
