import { count } from '../../count.ts';
import { UsageError } from '../../errors.ts';
import { checkRunId } from '../../gate/run-id.ts';
import { filled } from '../options.ts';
import { command, rowOptions } from '../spec.ts';
import { onlyGate } from './plan.ts';
import { checkReportFlags } from './reports.ts';
import { runGates } from './run-gates.ts';

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

export const runWait = command({
  name: 'wait',
  summary: 'wait for runs and gate on them',
  description: 'Wait until the runs have ended and exit with their verdicts: 0 only if the gate passes.',
  args: { '<runId...>': 'ids of one or more runs' },
  options: {
    '--name <text>': {
      help: 'name of the run in reports (default: its id); give it once per run',
      repeatable: true,
    },
    ...rowOptions('wait'),
  },
  examples: [
    'run=$(rungate run trigger --project shop --process checkout --no-wait)',
    'rungate run wait "$run" --strict --timeout 30m --junit rungate.xml',
    'rungate run wait "$run" --strict --timeout 30m --name "shop / checkout"',
  ],
  decides: true,
  check: checkReportFlags,
  async run(context, args, flags) {
    const { retries, name: names } = flags;
    if (retries !== undefined) {
      throw new UsageError('run wait cannot retry: it starts no runs', {
        hint: 'give --retries to rungate gate',
      });
    }
    const runIds = [...new Set(args.runId)];
    runIds.forEach(checkRunId);
    if (names !== undefined) checkNames(names, runIds);
    return runGates(context, [{ ...onlyGate(context.settings), runIds, names }]);
  },
});
