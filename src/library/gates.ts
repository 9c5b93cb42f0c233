import { prepareRequest } from '../client/request.ts';
import { run } from '../contract/run.ts';
import type { OpenDeployed } from '../gate/deployed/open.ts';
import type { GateEvent } from '../gate/events.ts';
import type { GatesReport } from '../gate/plan/result.ts';
import type { GatesEvent, PlannedGate } from '../gate/plan/run-gates.ts';
import { redactReport } from '../gate/report.ts';
import { optionNames } from '../hint-names.ts';
import { ownGateOptions } from './gate-options.ts';
import { type CheckedGate, checkedGates, type GatesOptions, inGate } from './gates-options.ts';
import { type Session, withSession } from './session.ts';
import { planStart } from './start-run.ts';

/** Returns the gate with the run to start. @throws RungateError if its create would be refused before it is sent */
async function planGate(
  { trigger, ...gate }: CheckedGate,
  options: GatesOptions,
  { base, clock, redact, emit }: Session<GatesEvent>,
): Promise<PlannedGate> {
  const { name, retries } = gate;
  const { env, idPointer, idempotencySalt: salt } = options;
  // Two gates with the same run need different keys, as on the command line.
  const idempotencySalt = env === undefined ? salt : [salt, `gate ${name}`].filter(Boolean).join(', ');
  const emitOwn = (event: GateEvent) => emit({ ...event, gate: name });
  const plan = { env, idPointer, idempotencySalt, idempotencyKey: undefined, retries };
  const { start, journal } = await planStart(trigger, plan, clock, emitOwn, redact, name);
  const target = { ...options, base, redact, names: optionNames };
  inGate(name, () =>
    prepareRequest('run.trigger', run['run.trigger'], { params: {}, body: start.body }, target),
  );
  return { ...gate, start, journal };
}

/**
 * Runs several gates, each as soon as the gates that it needs have passed, and judges them together: `rungate run gates` as a
 * function, with the same rules. They share the connections and the limits of the service, or the hub.
 * @returns the gates as data, in the shape that `--json` prints. With the default policy, `gate` is `pass` only if every run
 * passed. A gate whose run could not be started fails, with the `error`; the others go on
 * @throws RungateError if the options of a gate are invalid or a credential is missing; then nothing was sent. An abort does not throw: the
 * report has `interruptedBy`
 */
export async function gates(given: GatesOptions): Promise<GatesReport> {
  const options = ownGateOptions(given);
  const checked = checkedGates(options);
  const intervals = checked.map(({ intervalMs }) => intervalMs);
  return withSession<GatesEvent, GatesReport>(options, intervals, async (session) => {
    const { redact, emit, tools, openHub } = session;
    const planned = await Promise.all(checked.map((gate) => planGate(gate, options, session)));
    const commits = new Set(planned.map(({ start }) => start.body.commitSha ?? undefined));
    let deployed: OpenDeployed | undefined;
    try {
      deployed = await session.openDeployed(commits.size === 1 ? [...commits][0] : undefined);
      const { runGates } = await import('../gate/plan/run-gates.ts');
      const failFast = options.failFast === true;
      const report = await runGates(
        { gates: planned, failFast, fleet: checked[0]?.fleet, ...session.shared },
        {
          ...tools,
          openHub,
          deployed: deployed?.check,
          // The caller may change what it receives.
          emit: (event) =>
            emit(event.type === 'gate' ? { ...event, result: redactReport(event.result, redact) } : event),
        },
      );
      return redactReport(report, redact);
    } finally {
      await deployed?.close();
    }
  });
}
