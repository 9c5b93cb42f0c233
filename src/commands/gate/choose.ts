import { inTime } from '../../clock.ts';
import { formatDuration } from '../../duration.ts';
import { ConfigError, NetworkError, UsageError } from '../../errors.ts';
import { liveRuns, type SavedPlan } from '../../gate/plan/saved.ts';
import { runService } from '../../gate/service.ts';
import type { Context } from '../context.ts';
import { selfName } from '../init/first-steps.ts';
import {
  accountOf,
  checkAccount,
  type Store,
  type Stored,
  type StoredGate,
  UnwritableError,
} from './store.ts';

/** The time for finding out whether the runs of a gate that has ended go on. */
const longestLookMs = 30_000;

const sameGate = (stored: Stored | null, { identity }: StoredGate) =>
  Object.values(stored?.gates ?? {}).find((gate) => gate.identity === identity);

/** @throws UsageError if a run of a gate that has ended goes on, or may */
async function refuseSecondRun(
  context: Context,
  { id, reported = [] }: StoredGate,
  sliceMs: number,
): Promise<void> {
  if (reported.length === 0) return;
  const { io, output } = context;
  const service = runService(await context.connect(), io.clock.now);
  const timeoutMs = Math.min(sliceMs, longestLookMs);
  const look = (signal: AbortSignal) =>
    Promise.all(reported.map((runId) => runId !== null && service.hasEnded(runId, { timeoutMs, signal })));
  // A wait for a rate limit would keep the process alive.
  const ended = await inTime(timeoutMs, look, io.clock);
  if (ended === undefined)
    throw new NetworkError(
      'deadline',
      `no response about the runs of the last gate within ${formatDuration(timeoutMs)}`,
      {
        hint: 'run the command again; to start another run, add --new',
      },
    );
  for (const [index, runId] of reported.entries()) {
    if (ended[index]) continue;
    const run = runId === null ? 'a run that it may have created' : output.excerpt(runId, 80);
    const cancel =
      runId === null ? '' : `cancel it: ${selfName(io)} run cancel ${output.excerpt(runId, 80)}; `;
    throw new UsageError(`the gate of this command has ended, but ${run} has not`, {
      hint: `to see whether it has ended, run: ${selfName(io)} gate --resume ${id}; ${cancel}to start another run, add --new`,
    });
  }
}

export interface Chosen {
  state: StoredGate;
  /** Whether an earlier command has begun it. */
  isKnown: boolean;
  /** The gate whose runs `--new` leaves as they are. */
  left: StoredGate | undefined;
  /** Why the state cannot be written. */
  problem?: UnwritableError;
}

/** Returns the gate that a command goes on with, or a new one, and puts it into the store. @throws UsageError or ConfigError */
function pick({ io, flags, settings }: Context, stored: Stored, fresh: StoredGate): Chosen {
  const { resume, new: isNew = false } = flags;
  const found = resume === undefined ? sameGate(stored, fresh) : stored.gates[resume];
  if (resume !== undefined && found === undefined)
    throw new ConfigError(`--resume: the state of gate ${resume} has been removed`);
  const isKnown = found !== undefined && !isNew && (resume !== undefined || found.reported === undefined);
  if (!isKnown) {
    fresh.account = accountOf(stored, settings);
    if (found !== undefined) found.identity = '';
    stored.gates[fresh.id] = fresh;
    return { state: fresh, isKnown, left: isNew ? found : undefined };
  }
  checkAccount(stored, found, settings);
  if (resume === undefined && found.rules !== fresh.rules)
    throw new UsageError(
      'this gate was already started in this work tree, with another policy or other limits',
      {
        hint: `to continue it, run: ${selfName(io)} gate --resume ${found.id}; to start another run with the policy and limits of this command, add --new`,
      },
    );
  return { state: structuredClone(found), isKnown, left: undefined };
}

/** Chooses the gate, and stores it before anything is sent. @throws UsageError or ConfigError */
export async function choose(context: Context, store: Store, fresh: StoredGate): Promise<Chosen> {
  const { flags } = context;
  const before = store.read();
  const earlier = flags.resume === undefined && flags.new !== true ? sameGate(before, fresh) : undefined;
  if (before !== null && earlier !== undefined && earlier.account === accountOf(before, context.settings))
    await refuseSecondRun(context, earlier, flags.slice ?? longestLookMs);
  let chosen = before === null ? null : pick(context, before, fresh);
  try {
    // Under the lock, since another command may begin now.
    await store.change((stored) => {
      chosen = pick(context, stored, fresh);
    });
  } catch (error) {
    // A gate that goes on does so in this command; a new one would be lost.
    if (!(error instanceof UnwritableError) || chosen?.isKnown !== true) throw error;
    return { ...chosen, problem: error };
  }
  return chosen as Chosen;
}

/** Says which gate goes on, or which one `--new` leaves. */
export async function announce({ io, output }: Context, { state, isKnown, left }: Chosen): Promise<void> {
  const age = ({ startedAt }: SavedPlan) =>
    `${formatDuration(Math.max(0, io.clock.now() - startedAt))} ago (${new Date(startedAt).toISOString()})`;
  const runsIn = (gate: SavedPlan) => liveRuns(gate).map((runId) => output.excerpt(runId, 80));
  if (isKnown) {
    await output.alert(
      `continuing ${runsIn(state).join(', ') || 'the gate'}; the gate started ${age(state)}`,
    );
  } else if (left !== undefined) {
    for (const runId of runsIn(left))
      await output.alert(
        `leaving ${runId}, started ${age(left)}, as it is; to cancel it, run: ${selfName(io)} run cancel ${runId}`,
      );
  }
}
