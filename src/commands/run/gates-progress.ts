import { describeOutcome } from '../../ci/reports/wording.ts';
import type { GateResult } from '../../gate/plan/result.ts';
import type { GatesEvent, PlannedGate } from '../../gate/plan/run-gates.ts';
import type { WatchedRun } from '../../gate/watched-run.ts';
import type { Io } from '../../host/io.ts';
import type { LiveRun } from '../../output/live/model.ts';
import type { Output } from '../../output/output.ts';
import type { GateLive, Moment } from './live.ts';
import { gateProgress } from './progress.ts';

/** A gate, and its runs and its result so far. */
interface GateState {
  gate: PlannedGate;
  runs: readonly WatchedRun[];
  result: GateResult | null;
}

const noRun = {
  name: '',
  retry: 0,
  id: null,
  url: null,
  trouble: false,
  failed: null,
  blocked: null,
  attempt: '',
  elapsedMs: null,
  nextMs: null,
} as const;

/** Returns the rows of a gate in the live view: one for each run, or one that says why it has none. */
export function gateRows(
  { gate, runs, result }: GateState,
  ended: ReadonlySet<string>,
  rowOf: (run: WatchedRun) => LiveRun,
): LiveRun[] {
  const row = { ...noRun, gate: gate.name };
  if (result?.gate === 'skipped') return [{ ...row, phase: 'skipped', state: 'skipped' }];
  if (runs.length > 0) {
    const { advisory, retries = 0 } = gate;
    const phaseOf = ({ phase, state, retry }: LiveRun) => {
      // The run of a retry is created later, perhaps when the limit of creates permits it.
      if (result === null && phase !== 'going' && state === 'failed' && retry < retries) return 'waiting';
      // An advisory gate warns where another one fails.
      return advisory && phase === 'fail' ? 'warn' : phase;
    };
    return runs.map(rowOf).map((one) => ({ ...one, gate: gate.name, phase: phaseOf(one) }));
  }
  if (result !== null) return [{ ...row, phase: result.gate, state: result.runs[0]?.verdict ?? 'stopped' }];
  const open = gate.needs.filter((need) => !ended.has(need));
  if (open.length > 0) return [{ ...row, phase: 'waiting', state: `needs ${open.join(', ')}` }];
  return [{ ...row, phase: 'waiting', state: 'starting' }];
}

/** Returns what a log says about a gate that has ended. */
function endOf({ gate, reason, runs }: GateResult): string {
  if (gate === 'skipped') return `skipped: ${reason}`;
  if (reason !== null) return `stopped: ${reason}`;
  return runs.map((run) => describeOutcome(run)).join('; ');
}

/** Shows the progress of several gates: on a terminal as one view, elsewhere as lines that begin with the name of the gate. */
export async function gatesProgress(io: Io, output: Output, gates: readonly PlannedGate[]) {
  const states = new Map(
    gates.map((gate): [string, GateState] => [gate.name, { gate, runs: [], result: null }]),
  );
  const live = output.motion.possible ? await import('./live.ts') : null;
  if (live !== null) await output.motion.load();
  const rowsOf = (moment: Omit<Moment, 'policy' | 'maxAttempts'>) => {
    const ended = new Set([...states.values()].flatMap(({ gate, result }) => (result ? gate.name : [])));
    return [...states.values()].flatMap((state) =>
      gateRows(state, ended, (run) => live?.liveRun(run, { ...state.gate, ...moment }) as LiveRun),
    );
  };
  const view = live?.liveRows(io, output, rowsOf);
  view?.show();

  const own = async (gate: PlannedGate | null) => {
    const prefix = gate === null ? '' : `${gate.name}: `;
    const line = (write: Output['note']) => (text: string) =>
      write(text.startsWith('  ') ? text : `${prefix}${text}`);
    const shown: Output = { ...output, note: line(output.note), alert: line(output.alert) };
    const ownView: GateLive | undefined = view && { ...view, watch: view.draw, stop() {} };
    const nameOf = (runId: string) => {
      const run = states.get(gate?.name ?? '')?.runs.find((one) => one.runId === runId);
      return run?.subject.name ?? null;
    };
    return gateProgress(io, shown, gate, nameOf, ownView);
  };
  const all = await own(null);
  const each = new Map(await Promise.all(gates.map(async (gate) => [gate.name, await own(gate)] as const)));
  let hubIsLost = false;

  return {
    emit(event: GatesEvent) {
      if (event.type === 'gate') {
        const { result } = event;
        const state = states.get(result.name);
        if (state !== undefined) state.result = result;
        const text = output.excerpt(`${result.name}: ${endOf(result)}`, 600);
        void output.note(text);
        return view?.draw();
      }
      if (event.type === 'hub') {
        // Each gate has its own link with the one hub.
        if (hubIsLost === (event.error !== null)) return;
        hubIsLost = event.error !== null;
        return all.emit(event);
      }
      (each.get(event.gate ?? '') ?? all).emit(event);
    },
    onWatch(gate: string, runs: readonly WatchedRun[]) {
      const state = states.get(gate);
      if (state !== undefined && runs.length > 0) state.runs = runs;
      each.get(gate)?.onWatch(runs);
    },
    stop: () => view?.stop(),
  };
}
