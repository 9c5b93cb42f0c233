import { count } from '../../count.ts';
import { UsageError } from '../../errors.ts';
import { checkRunId } from '../../gate/run-id.ts';
import type { Flags } from '../../options/table.ts';
import type { Context } from '../context.ts';
import { filled } from '../options.ts';
import { runGates } from './open-gate.ts';
import { onlyGate } from './plan.ts';

/** Refuses names that do not identify each run: reports compare runs by name from build to build. */
function checkNames(names: readonly string[], runIds: readonly string[]): void {
  for (const name of names) filled('--name', name);
  if (names.length !== runIds.length) {
    throw new UsageError(`--name: ${count(names.length, 'name')} for ${count(runIds.length, 'run')}`, {
      hint: 'give --name once for each run, in the order of the ids',
    });
  }
  if (new Set(names).size < names.length) {
    throw new UsageError('--name: two runs have the same name', { hint: 'give each run its own name' });
  }
}

/** `rungate run wait <runId...>`: waits for existing runs and exits with the result. */
export async function waitCommand(context: Context, ids: readonly string[], flags: Flags): Promise<number> {
  const { retries, name: names } = flags;
  if (retries !== undefined) {
    throw new UsageError('run wait cannot retry: it starts no runs', {
      hint: 'give --retries to rungate gate',
    });
  }
  const runIds = [...new Set(ids)];
  runIds.forEach(checkRunId);
  if (names !== undefined) checkNames(names, runIds);
  return runGates(context, flags, [{ ...onlyGate(context.settings), runIds, names }]);
}
