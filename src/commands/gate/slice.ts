import { createHash } from 'node:crypto';
import type { CiContext } from '../../ci/context.ts';
import { formatDuration } from '../../duration.ts';
import { type StopCause, UsageError } from '../../errors.ts';
import type { EndEvent } from '../../library/reporter.ts';
import { buildIds, type Flags, rows } from '../../options/table.ts';
import { findRoot } from '../../settings/locate.ts';
import { isUnobservedRun, recordIn } from '../../slice/record.ts';
import { goingOn, liveRuns, newGates, type SavedGates } from '../../slice/state.ts';
import { readToken, tokenOf } from '../../slice/token.ts';
import { isLocal } from '../../transport/address.ts';
import type { Context } from '../context.ts';
import { selfName } from '../init/first-steps.ts';
import { argumentsOf } from '../options.ts';
import type { CommandGate } from '../run/command-gate.ts';
import type { GatePart } from '../run/open-gate.ts';
import { gatesFile } from './gates-file.ts';

/** The gates of a slice, with what earlier slices have done, and the parts that attach it to them. */
export interface Slice extends GatePart {
  readonly gates: readonly CommandGate[];
}

const shortestSliceMs = 5_000;

const sha256 = (...parts: readonly unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** Returns the body without the facts from the CI or git, which change while a gate goes on. */
function askedFor({ start, settings }: CommandGate): unknown {
  const asked = Object.entries(start?.body ?? {}).filter(([name]) => {
    const id = buildIds.find((known) => known === name);
    return id === undefined || settings[id] !== undefined;
  });
  return Object.fromEntries(asked);
}

function fromToken(token: string, request: string): SavedGates {
  const state = readToken(token);
  const hint = 'run the command that the last slice printed, unchanged';
  if (state === null)
    throw new UsageError('--resume: the token is damaged or incomplete', {
      hint: `${hint}; do not edit the token`,
    });
  if (state.request !== request)
    throw new UsageError(
      '--resume: the token is of another gate: the service, the project or what it runs differs',
      {
        hint: `${hint}, in the same folder and with the same settings`,
      },
    );
  return state;
}

/** Returns the gates of a slice: as they are planned, or as they go on after earlier slices. @throws UsageError */
export async function openSlice(
  context: Context,
  ci: CiContext,
  planned: readonly CommandGate[],
  names: readonly string[],
  flags: Flags,
): Promise<Slice> {
  const { slice: sliceMs, resume, idempotencyKey, idempotencySalt } = flags;
  const { io, output, settings } = context;
  const { clock } = io;
  const apiUrl = settings.apiUrl?.value ?? '';
  if (sliceMs !== undefined && sliceMs < shortestSliceMs && !isLocal(apiUrl))
    throw new UsageError(`--slice is too short: ${formatDuration(sliceMs)}`, {
      hint: 'use 5 s or more, preferably 45 s: each slice reads the run at least once',
    });
  const [startedAt, began] = [clock.now(), clock.monotonic()];
  const request = sha256(apiUrl, ...planned.map((gate) => [gate.name, askedFor(gate)])).slice(0, 12);
  const bodies = planned.map(({ name, start }) => [name, start?.body]);
  const folder = findRoot(io.cwd, io.exists) ?? io.cwd;
  const { runId, job, attempt, jobId, matrix, parallelIndex } = ci;
  // A job of a CI does not join the run of another job, or of itself before its re-run: that may have ended before.
  const place = [folder, runId, job, attempt, jobId, matrix, parallelIndex];
  const given = resume === undefined ? null : fromToken(resume, request);
  const name = sha256(place, apiUrl, bodies, idempotencyKey, idempotencySalt).slice(0, 22);
  const file = gatesFile(context, name, given?.id);

  const fresh = newGates({ id: crypto.randomUUID().slice(0, 8), request, startedAt }, planned, output.redact);
  const choose = (saved: SavedGates | null) => {
    // The file is newer than the token if a slice was killed after it had printed the token.
    const found = given === null || given.id === saved?.id ? saved : given;
    const joined = found !== null && (given !== null || found.endsAt > startedAt) ? found : null;
    return { joined, state: flags.new === true ? fresh : (joined ?? fresh) };
  };
  let chosen = choose(await file.read());
  // Before anything is sent, since a slice that is killed is found by its keys; and under the lock, since another command may begin now.
  await file.change((saved) => {
    chosen = choose(saved);
    return given !== null && saved !== null && saved.id !== given.id ? undefined : chosen.state;
  });
  const { joined, state } = chosen;
  const age = (from: SavedGates) =>
    `${formatDuration(startedAt - from.startedAt)} ago (${new Date(from.startedAt).toISOString()})`;
  const runsIn = (from: SavedGates) => liveRuns(from).map(({ runId }) => output.excerpt(runId, 80));
  if (joined === state)
    await output.alert(
      `going on with ${runsIn(joined).join(', ') || 'the gate'}, started ${age(joined)}${given === null ? '; --new starts a new run instead' : ''}`,
    );
  else if (joined !== null)
    for (const runId of runsIn(joined))
      await output.alert(
        `leaving ${runId}, started ${age(joined)}, as it is; to cancel it, run: ${selfName(io)} run cancel ${runId}`,
      );

  const isOurs = (known: SavedGates | null) => known?.id === state.id;
  const save = () => file.change((known) => (isOurs(known) ? state : undefined));

  const timeouts = new Map(planned.map(({ name, timeoutMs }) => [name, timeoutMs]));
  const recorded = recordIn(state, {
    clock,
    redact: output.redact,
    timeoutOf: (name) => timeouts.get(name) ?? 0,
    save: () => void save(),
  });
  const next = () =>
    [
      ...[...selfName(io).split(' '), 'gate', ...names],
      ...argumentsOf(flags, (row) => row !== rows.resume && row !== rows.new),
      ...['--resume', tokenOf(state)],
    ].map((word) => output.redact(word));
  return {
    gates: planned.map((gate) => goingOn(gate, state, clock)),
    build: { seen: state.build, elapsedMs: startedAt - state.startedAt },
    onStop(listener) {
      const done = new AbortController();
      const stop = (cause: StopCause) => {
        if (done.signal.aborted) return;
        done.abort();
        listener(cause);
      };
      const forget = io.onStop(stop);
      if (sliceMs !== undefined)
        clock.sleep(Math.max(0, began + sliceMs - clock.monotonic()), done.signal).then(
          () => stop('slice'),
          () => {},
        );
      return () => {
        done.abort();
        forget();
      };
    },
    record: {
      ...recorded,
      async end(event) {
        // Reports and receipts are about all slices.
        event.startedAt = state.startedAt;
        if (!goesOnAfter(event, flags)) return;
        await save();
        Object.assign(event.report, {
          startedAt: new Date(state.startedAt).toISOString(),
          next: next(),
          hint: 'the gate has neither passed nor failed: run the command in next, unchanged, and do not start another run',
        });
      },
    },
    reported: {
      async end(event) {
        // A result whose reader has gone is not reported, and a run that could not be observed may go on.
        if (goesOnAfter(event, flags) || !io.out.open || isUnobserved(event)) return;
        await file.change((known) => (isOurs(known) ? null : undefined));
      },
    },
  };
}

/** Returns whether a run exists, or may exist, whose end is unknown. The same command looks for it again. */
const isUnobserved = (event: EndEvent) => event.error !== null || event.runs().runs.some(isUnobservedRun);

/** Returns whether runs go on after this end. Ctrl-C is the end of the gate, unless nothing was cancelled. */
function goesOnAfter({ error, report }: EndEvent, { cancelOnInterrupt, slice }: Flags): boolean {
  const { result, interruptedBy, cancellation } = report;
  if (error !== null || interruptedBy === undefined) return false;
  if (result === 'waiting') return true;
  const cancels = cancelOnInterrupt ?? (slice === undefined || interruptedBy === 'SIGINT');
  return cancels ? cancellation === 'failed' : true;
}
