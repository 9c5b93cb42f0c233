import { createCaller, ownRedactor } from '../client/caller.ts';
import { systemClock } from '../clock.ts';
import type { StopCause } from '../errors.ts';
import { runAttempts } from '../gate/attempts.ts';
import type { OpenDeployed } from '../gate/deployed/open.ts';
import type { OpenHub } from '../gate/fleet/open-hub.ts';
import { intervalNote, shortestWaitMs } from '../gate/limits.ts';
import { redactReport } from '../gate/report.ts';
import { checkRunId } from '../gate/run-id.ts';
import { runService } from '../gate/service.ts';
import { optionNames } from '../hint-names.ts';
import { isLocal, parseApiUrl } from '../transport/address.ts';
import { openOptionDeployed } from './deployed.ts';
import { type GateOptions, gateRules, ownGateOptions } from './gate-options.ts';
import { type GateResult, withReceipt } from './gate-result.ts';
import { openOptionHub } from './hub.ts';
import { observerOf } from './observer.ts';
import { planStart } from './start-run.ts';

/** Returns the facts of the CI job for the receipt of runs that another call started. */
async function factsOfJob(env: GateOptions['env']) {
  if (env === undefined) return {};
  const [{ detectCi }, { runFacts }] = await Promise.all([
    import('../ci/provider.ts'),
    import('../ci/context.ts'),
  ]);
  return runFacts(detectCi(env));
}

/**
 * Starts a run or takes existing ones, waits for them, and judges them: `rungate run trigger --wait` and `rungate run wait`
 * as a function, with the same rules (interface, sections 3 and 4.3). It never ends the process, only reads the environment in
 * `env`, and closes its timers and connections.
 * @returns the gate as data, in the shape that `--json` prints, with a method for its receipt. With the default policy, `gate` is `pass` only if every run passed
 * @throws RungateError if there is nothing to report on: the options are invalid, a credential is missing, or no run could be
 * created. `exitCodeOf(error)` is the exit code of the command line. Later errors are in the run's `error`. An abort does not
 * throw: the report has `interruptedBy` and the state of the runs.
 */
export async function gate(given: GateOptions): Promise<GateResult> {
  const options = ownGateOptions(given);
  const rules = gateRules(options);
  const { trigger, runIds, env, clock = systemClock, random = Math.random } = options;
  parseApiUrl(options.apiUrl, options.insecureHttp, optionNames);
  for (const runId of runIds ?? []) checkRunId(runId);
  const startedAt = clock.now();
  const local = isLocal(options.apiUrl);
  const note = intervalNote('intervalMs', rules.intervalMs, local);
  const observer = observerOf(options);
  const redact = ownRedactor(options, options.hub?.token);
  if (note !== null) observer.emit({ type: 'note', message: note });
  const cancelReason = async (why: StopCause | 'timeout') =>
    options.cancelReason ?? (await import('../ci/provider.ts')).cancelReason(why, env ?? {});
  const started =
    trigger === undefined
      ? { runIds: [...new Set(runIds)], start: undefined, journal: undefined }
      : { runIds: undefined, ...(await planStart(trigger, options, clock, observer.emit, redact)) };
  const caller = createCaller(options, redact, optionNames);
  let hub: OpenHub | undefined;
  let deployed: OpenDeployed | undefined;
  try {
    hub = await openOptionHub(options, clock, redact, observer.emit);
    const commit = started.start?.body.commitSha ?? undefined;
    deployed = await openOptionDeployed(options, commit, clock, redact, observer.emit);
    const { report } = await runAttempts(
      {
        start: started.start,
        runIds: started.runIds,
        ...rules,
        shortestMs: shortestWaitMs(local),
        cancelOnInterrupt: options.cancelOnAbort ?? trigger !== undefined,
        cancelOnTimeout: options.cancelOnTimeout === true,
        cancelReason,
      },
      {
        service: runService(caller, clock.now),
        clock,
        random,
        onStop: observer.onStop,
        emit: observer.emit,
        journal: started.journal,
        hub: hub?.link,
        deployed: deployed?.check,
      },
    );
    observer.throwIfFailed();
    return withReceipt(redactReport(report, redact), {
      build: async () => started.start?.body ?? factsOfJob(env),
      apiUrl: options.apiUrl,
      policy: rules.policy,
      startedAt,
      finishedAt: clock.now(),
      redact,
    });
  } finally {
    await hub?.close();
    await deployed?.close();
    await caller.close();
  }
}
