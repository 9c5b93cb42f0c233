import { runFacts } from '../../ci/context.ts';
import { count } from '../../count.ts';
import { UsageError } from '../../errors.ts';
import { unnamed } from '../../gate/plan/plan.ts';
import { checkRunId } from '../../gate/run-id.ts';
import type { Flags } from '../../options/table.ts';
import { buildContext } from '../ci-context.ts';
import type { Context } from '../context.ts';
import { filled } from '../options.ts';
import { runGates } from './open-gate.ts';
import { replaceReceipts } from './receipt.ts';
import { withSubjectFiles } from './subjects.ts';
import { gateOf } from './wait-flags.ts';

export type NamedWaitFlags = Flags & { name?: string[] };

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

export async function waitCommand(
  given: Context,
  texts: readonly string[],
  givenFlags: NamedWaitFlags,
): Promise<number> {
  if (givenFlags.retries !== undefined) {
    throw new UsageError('run wait cannot retry: it starts no runs', {
      hint: 'give --retries to rungate gate',
    });
  }
  const runIds = [...new Set(texts)];
  runIds.forEach(checkRunId);
  if (givenFlags.name !== undefined) checkNames(givenFlags.name, runIds);
  const openReceipts = replaceReceipts(given, givenFlags.receipt, [unnamed]);
  const [context, flags] = await withSubjectFiles(given, givenFlags);
  // Another job may have started the runs, so their environment is unknown.
  const gate = gateOf(context.settings, { runIds, names: flags.name });
  // Only a receipt needs the facts of the build: git takes time.
  const receipt = await openReceipts?.(context, [
    { name: unnamed, policy: gate.rules.policy, build: runFacts(await buildContext(context)) },
  ]);
  return runGates(context, [gate], flags, receipt);
}
