import { checkOptions } from '../client/check-options.ts';
import { prepareRequest } from '../client/request.ts';
import { run } from '../contract/run.ts';
import type { GatesEvent } from '../gate/plan/plan.ts';
import type { GatesReport } from '../gate/result-types.ts';
import { checkedGates, type GatesOptions, gatesOptions, inGate } from './gates-options.ts';
import { openGate } from './open-gate.ts';
import { planCall } from './plan-call.ts';
import { withSession } from './session.ts';

/**
 * Runs several gates, each as soon as the gates that it needs have passed, and judges them together: `rungate gate` with the
 * gates of a file as a function, with the same rules. They share the connections and the limits of the service, or the hub.
 * @returns the gates as data, in the shape that `--json` prints. With the default policy, `result` is `pass` only if every run
 * passed. A gate whose run could not be started fails, with the `error`; the others go on
 * @throws RungateError if the options of a gate are invalid or a credential is missing; then nothing was sent. An abort does not throw: the
 * report has `interruptedBy`
 * @example
 * ```ts
 * import { gates } from 'rungate';
 *
 * const report = await gates({
 *   apiUrl: 'https://service.example.com',
 *   apiKey: process.env.RUNGATE_API_KEY,
 *   gates: {
 *     smoke: { trigger: { projectSlug: 'shop', tags: ['smoke'] } },
 *     checkout: { trigger: { projectSlug: 'shop', processSlug: 'checkout' }, needs: ['smoke'] },
 *   },
 * });
 * for (const { name, result } of report.gates) console.log(name, result);
 * ```
 */
export async function gates(given: GatesOptions): Promise<GatesReport> {
  const options = checkOptions(gatesOptions, given, 'gates');
  const checked = checkedGates(options);
  const intervals = checked.map(({ rules }) => rules.intervalMs);
  return withSession<GatesEvent, GatesReport>(options, intervals, async (session) => {
    const planned = planCall(checked, options, session);
    for (const { name, start } of planned) {
      const input = { params: {}, body: start.body };
      const sender = { ...options, nameOf: session.nameOf };
      inGate(name, () => prepareRequest('run.trigger', run['run.trigger'], input, session.base, sender));
    }
    const settings = { ...session, gates: planned, failFast: options.failFast === true };
    const { report } = await openGate(settings, [session.reporter]);
    return report as GatesReport;
  });
}
