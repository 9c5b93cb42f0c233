import { runAttempts } from '../gate/attempts.ts';
import type { OpenDeployed } from '../gate/deployed/open.ts';
import type { OpenHub } from '../gate/fleet/open-hub.ts';
import { redactReport } from '../gate/report.ts';
import { checkRunId } from '../gate/run-id.ts';
import { type GateOptions, gateRules, ownGateOptions } from './gate-options.ts';
import { type GateResult, withReceipt } from './gate-result.ts';
import { withSession } from './session.ts';
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
  const { trigger, runIds, env } = options;
  for (const runId of runIds ?? []) checkRunId(runId);
  return withSession(options, [rules.intervalMs], async (session) => {
    const { clock, redact, emit } = session;
    const startedAt = clock.now();
    const planned =
      trigger === undefined ? undefined : await planStart(trigger, options, clock, emit, redact);
    const start = planned?.start;
    let hub: OpenHub | undefined;
    let deployed: OpenDeployed | undefined;
    try {
      hub = await session.openHub(emit);
      deployed = await session.openDeployed(start?.body.commitSha ?? undefined);
      const { report } = await runAttempts(
        {
          start,
          runIds: start === undefined ? [...new Set(runIds)] : undefined,
          ...rules,
          ...session.shared,
        },
        { ...session.tools, emit, journal: planned?.journal, hub: hub?.link, deployed: deployed?.check },
      );
      return withReceipt(redactReport(report, redact), {
        build: async () => start?.body ?? factsOfJob(env),
        apiUrl: options.apiUrl,
        policy: rules.policy,
        startedAt,
        finishedAt: clock.now(),
        redact,
      });
    } finally {
      await hub?.close();
      await deployed?.close();
    }
  });
}
