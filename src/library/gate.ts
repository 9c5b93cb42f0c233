import { runFacts } from '../ci/context.ts';
import { detectCi } from '../ci/provider.ts';
import { checkOptions } from '../client/check-options.ts';
import { UsageError } from '../errors.ts';
import { unnamed } from '../gate/plan/plan.ts';
import type { GateReport } from '../gate/result-types.ts';
import { checkRunId } from '../gate/run-id.ts';
import { artifactsOf } from '../subject.ts';
import { bareUrl } from '../transport/address.ts';
import { type GateOptions, gateOptions, gateRules } from './gate-options.ts';
import { openGate } from './open-gate.ts';
import { planCall } from './plan-call.ts';
import { type ReportWithReceipt, withReceipt } from './receipt.ts';
import { withSession } from './session.ts';

/**
 * Starts a run or takes existing ones, waits for them, and judges them: `rungate gate` as a function, with the same rules. It
 * never ends the process, reads no environment but `env`, and closes its timers and connections.
 * @returns the gate as data, in the shape that `--json` prints, with a method for its receipt. With the default policy, `result`
 * is `pass` only if every run passed
 * @throws RungateError if there is nothing to report on: the options are invalid, a credential is missing, or no run could be
 * created. `exitCodeOf(error)` is the exit code of the command line. Later errors are in the run's `error`. An abort does not
 * throw: the report has `interruptedBy` and the state of the runs.
 * @example
 * ```ts
 * import { gate } from 'rungate';
 *
 * const report = await gate({
 *   apiUrl: 'https://service.example.com',
 *   apiKey: process.env.RUNGATE_API_KEY,
 *   trigger: { projectSlug: 'shop', processSlug: 'checkout' },
 * });
 * if (report.result === 'fail') process.exitCode = report.exitCode;
 * ```
 */
export async function gate(given: GateOptions): Promise<ReportWithReceipt> {
  const options = checkOptions(gateOptions, given, 'gate');
  const rules = gateRules(options);
  const { trigger, runIds, env } = options;
  for (const runId of runIds ?? []) checkRunId(runId);
  const node = { name: unnamed, needs: [], advisory: false, rules };
  return withSession(options, [rules.intervalMs], async (session) => {
    if (trigger === undefined && options.preview !== undefined)
      throw new UsageError('preview needs trigger: the runs of runIds already have an environment');
    const [gate] =
      trigger === undefined
        ? [{ ...node, settings: options, runIds: [...new Set(runIds)], start: undefined }]
        : planCall([{ ...node, trigger, preview: options.preview }], options, session);
    const { start } = gate;
    const { reporter, redact } = session;
    const { report } = await openGate({ ...session, gates: [gate], failFast: false }, [reporter]);
    const facts = {
      build: {
        ...(start?.body ?? (env === undefined ? {} : runFacts(detectCi(env)))),
        baseUrl: start?.preview && bareUrl(start.preview.baseUrl),
      },
      subjects: artifactsOf(options.subjects),
      apiUrl: options.apiUrl,
      policy: rules.policy,
    };
    return withReceipt(report as GateReport, facts, redact);
  });
}
