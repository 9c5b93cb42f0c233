import type { RungateError } from '../errors.ts';
import type { InnerEvent } from '../gate/events.ts';
import { type GatesEvent, type PlanEvent, type PlannedGate, unnamed } from '../gate/plan/plan.ts';
import { redactReport, type SuitesReport } from '../gate/report.ts';
import type { GateReport, GatesReport } from '../gate/result-types.ts';
import type { Redact } from '../redact.ts';

/** The gates are connected and begin. */
interface BeginEvent {
  type: 'begin';
}

/** The result of the gates, without secrets. */
export interface EndEvent {
  type: 'end';
  /** The result as it is printed as JSON: of one gate, or of several. */
  report: GateReport | GatesReport;
  /** Returns the result as a list of runs, with a suite for each of several gates. */
  runs(): SuitesReport;
  /** Why nothing could be started; `openGate` throws it after this event. */
  error: RungateError | null;
  /** In milliseconds since the epoch. */
  startedAt: number;
  /** The exit code. A reporter that fails makes it a failure, unless it is one already. */
  exitCode: number;
  /** The path of the receipt that a reporter has written. */
  receipt: string | null;
}

/** The events of a gate from its begin to its end. `close`: no event of a run follows, whether or not there is a result. */
type ReportedEvent = PlanEvent | BeginEvent | { type: 'close' } | EndEvent;

/** Shows or records the events of a gate. `openGate` awaits only the handlers of `begin` and `end`, in order. */
export type Reporter = {
  [Type in ReportedEvent['type']]?: (event: Extract<ReportedEvent, { type: Type }>) => void | Promise<void>;
} & {
  /** Receives every event of the gates that `onProgress` has. */
  progress?: (event: GatesEvent) => void;
};

function deliver(reporter: Reporter, event: ReportedEvent): void | Promise<void> {
  return (reporter[event.type] as ((given: ReportedEvent) => void | Promise<void>) | undefined)?.(event);
}

/** The events that the caller of the library does not get. The compiler demands each of them. */
const inner: Readonly<Record<InnerEvent['type'] | 'close', true>> = {
  watch: true,
  triggering: true,
  received: true,
  settled: true,
  close: true,
};
const isInner = (event: { type: string }): event is InnerEvent | { type: 'close' } =>
  Object.hasOwn(inner, event.type);

/**
 * Returns a reporter for the journals of gates. `settle` records that the job is done with the runs that have ended: once their result is
 * reported, since a command that is killed before that has told nobody.
 */
export function journalReporter(gates: readonly PlannedGate[]): {
  reporter: Reporter;
  settle(): void;
} {
  const journalOf = (gate = unnamed) => gates.find(({ name }) => name === gate)?.start?.journal;
  const settled: { gate?: string | undefined; runId: string }[] = [];
  return {
    reporter: {
      triggering: ({ gate, key, past, body }) => journalOf(gate)?.triggering(key, past, body),
      received: ({ gate, key, runId }) => journalOf(gate)?.created(key, runId),
      settled: (event) => void settled.push(event),
      // Several gates share it, and their journals are for one job.
      environment({ key, step, baseUrl }) {
        if (step === 'kept') return;
        const shared = gates.find(({ start }) => start?.journal !== undefined);
        shared?.start?.journal?.environment(key, step, baseUrl);
      },
    },
    settle() {
      for (const { gate, runId } of settled) journalOf(gate)?.settled(runId);
    },
  };
}

/** Events for people and for the library's caller have no secrets; those for the journal and the live view are unchanged. */
export function emitTo(
  reporters: readonly Reporter[],
  given: PlanEvent | { type: 'close' },
  redact: Redact,
): void {
  const event = isInner(given) ? given : redactReport(given, redact);
  for (const reporter of reporters) {
    void deliver(reporter, event);
    if (!isInner(event)) reporter.progress?.(event);
  }
}

/** Calls the reporters one after the other. */
export async function awaitEach(reporters: readonly Reporter[], event: BeginEvent | EndEvent): Promise<void> {
  for (const reporter of reporters) await deliver(reporter, event);
}
