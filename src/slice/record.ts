import type { Clock } from '../clock.ts';
import { nothingSeen, withReading } from '../gate/deployed/reads.ts';
import type { KeyChain, KnownRun } from '../gate/events.ts';
import { type PlanEvent, unnamed } from '../gate/plan/plan.ts';
import { redactReport } from '../gate/report.ts';
import type { RunReport } from '../gate/result-types.ts';
import type { WatchedRun } from '../gate/watched-run.ts';
import type { Redact } from '../redact.ts';
import { type SavedGate, type SavedGates, savedChain } from './state.ts';

export const isUnobservedRun = ({ runId, verdict }: RunReport) => runId !== null && verdict === 'unobserved';

type Handlers = {
  [Type in PlanEvent['type']]?: (event: Extract<PlanEvent, { type: Type }>) => void;
};

interface RecordTools {
  clock: Clock;
  redact: Redact;
  /** Makes each change that the next slice must know: here, and in what is stored, which another command may have changed. */
  save(edit: (state: SavedGates) => void): void;
}

/** Another command of the same gate may be further along the chain. */
const isNext = ({ chain }: SavedGate, next: KeyChain) => chain === undefined || chain.at < next.at;

/** Returns the handlers that keep the state up to date with the events of the gates. */
export function recordIn({ clock, redact, save }: RecordTools): Handlers {
  const unsure = new Map<string, { gate: string | undefined; key: string; run: KnownRun }>();
  const watched = new Map<string, WatchedRun>();
  const change = (name: string | undefined, edit: (gate: SavedGate, state: SavedGates) => void) =>
    save((state) => {
      const gate = state.gates[name ?? unnamed];
      if (gate !== undefined) edit(gate, state);
    });
  const keep = (name: string | undefined, key: string, run: KnownRun) =>
    change(name, ({ chain }) => {
      if (chain?.link.key === key) chain.link.run ??= run;
    });
  const keepReads = (name: string | undefined, runId: string) => {
    const { progress, appUrl = null } = watched.get(runId) ?? {};
    if (progress === undefined) return;
    const { attempts, foreign, missingSince: since } = progress;
    const missingSince = since === null ? null : Math.round(clock.now() - (clock.monotonic() - since));
    change(name, ({ chain }) => {
      const run = chain?.link.run;
      if (run?.runId !== runId) return;
      Object.assign(run, { attempts, foreign, missingSince });
      if (appUrl !== null) run.appUrl = redact(appUrl);
    });
  };
  return {
    begun({ gate: name }) {
      const now = clock.now();
      change(name, (gate, state) => {
        gate.begunAt ??= now;
        state.endsAt = Math.max(state.endsAt, gate.begunAt + gate.timeoutMs);
      });
    },
    triggering({ gate: name, step }) {
      change(name, ({ chain }) => {
        if (chain?.link.key === step.key) chain.link.sent = true;
      });
    },
    received({ gate, step: { key, run: known }, run, own }) {
      // An id that has a secret in it is not kept: the key finds the run.
      if (known !== undefined || redact(run.runId) !== run.runId) return;
      const startedAt = Math.round(clock.now() - (clock.monotonic() - run.startedAt));
      const started = { ...run, startedAt, appUrl: run.appUrl && redact(run.appUrl), attempts: 0 };
      if (own) keep(gate, key, started);
      else unsure.set(run.runId, { gate, key, run: started });
    },
    settled({ gate, runId }) {
      const now = clock.now();
      change(gate, ({ chain }) => {
        const run = chain?.link.run;
        if (run?.runId === runId) run.endedAt ??= now;
      });
    },
    watch({ runs }) {
      for (const run of runs) watched.set(run.runId, run);
    },
    trouble: ({ gate, runId }) => keepReads(gate, runId),
    read({ gate: name, runId }) {
      const found = unsure.get(runId);
      // From here on it cannot have ended before the gate: it is this gate's, whatever its next state is.
      if (found !== undefined && watched.get(runId)?.progress.inProgress === true) {
        unsure.delete(runId);
        keep(found.gate, found.key, found.run);
      }
      keepReads(name, runId);
    },
    link({ gate: name, chain, passed }) {
      change(name, (gate) => {
        const isNew = !gate.discarded.some(({ runId }) => runId === passed?.runId);
        if (passed !== undefined && isNew) gate.discarded.push(redactReport(passed, redact));
        if (isNext(gate, chain)) gate.chain = savedChain(chain);
      });
    },
    failed({ gate: name, runs, chain }) {
      change(name, (gate) => {
        if (!isNext(gate, chain)) return;
        gate.failed = redactReport([...runs], redact);
        gate.chain = savedChain(chain);
      });
    },
    deployed({ phase, text, version, matches, error }) {
      const reading =
        error === null ? { text: text ?? '', matches, version: version ?? undefined } : { error };
      const now = clock.now();
      save((state) => {
        const seen = withReading(state.build ?? nothingSeen, phase, reading, now);
        state.build = { ...seen, after: 0, error: null };
      });
    },
    gate({ gate: name, report }) {
      // One that was skipped, stopped, goes on or could not be observed is decided again.
      if (report.exitCode === null || report.runs.some(isUnobservedRun)) return;
      change(name, (gate) => {
        gate.ended = report;
      });
    },
  };
}
