import { createHash } from 'node:crypto';
import type { CiContext } from '../../ci/context.ts';
import { formatDuration } from '../../duration.ts';
import { type StopCause, UsageError } from '../../errors.ts';
import type { EndEvent } from '../../library/reporter.ts';
import { buildIds, type Flags, groupOf, rows } from '../../options/table.ts';
import type { Redact } from '../../redact.ts';
import { findRoot } from '../../settings/locate.ts';
import { isUnobservedRun, recordIn } from '../../slice/record.ts';
import { goingOn, hasSecret, inThisClock, liveRuns, newGates, type SavedGates } from '../../slice/state.ts';
import { readToken, tokenOf } from '../../slice/token.ts';
import { echoed } from '../../suggest.ts';
import { isLocal } from '../../transport/address.ts';
import type { Context } from '../context.ts';
import { selfName } from '../init/first-steps.ts';
import { argumentsOf } from '../options.ts';
import type { GatePart } from '../run/open-gate.ts';
import type { CommandGate } from '../run/wait-flags.ts';
import { gatesFile, type KnownGates } from './gates-file.ts';

/** The gates of a slice, with what earlier slices have done, and the parts that attach it to them. */
export interface Slice extends GatePart {
  readonly gates: readonly CommandGate[];
}

const shortestSliceMs = 5_000;

const sha256 = (...parts: readonly unknown[]) =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64url');

/** Returns the body with the deployment instead of its environment, whose key is random outside CI. */
function bodyOf({ start, preview }: CommandGate) {
  if (start === undefined || preview === undefined) return start?.body;
  return { ...start.body, environmentKey: [preview.baseUrl.href, preview.model, preview.copyVariables] };
}

/** Returns the body without the facts from the CI or git, which change while a gate goes on; all of a body that is not stored. */
function askedFor(gate: CommandGate, redact: Redact): unknown {
  const { settings, start } = gate;
  if (hasSecret(start?.body, redact)) return bodyOf(gate);
  const asked = Object.entries(bodyOf(gate) ?? {}).filter(([name]) => {
    const id = buildIds.find((known) => known === name);
    return id === undefined || settings[id] !== undefined;
  });
  return Object.fromEntries(asked);
}

const again = 'run the command that the last slice printed, unchanged';

/** Finds the gates that a token names: by their id in the file, or in a token that has everything itself. @throws UsageError */
function resumed(
  token: string,
  request: string,
  known: KnownGates,
  ownName: string,
): readonly [string, SavedGates] {
  const whole = readToken(token);
  // The file is newer than the token if a slice was killed after it had printed the token.
  const found = Object.entries(known).find(([, { id }]) => id === (whole?.id ?? token));
  const [name, gates] = found ?? [ownName, whole];
  if (gates === null)
    throw new UsageError(`--resume: ${echoed(token)} is not the token of a gate of this user`, {
      hint: `${again}; or run the first command again, without --resume: it joins the run that it started`,
    });
  if (gates.request === request) return [name, gates];
  throw new UsageError(
    '--resume: the token is of another gate: the service, the project, what it runs or the build differs',
    { hint: `${again}, in the same folder and with the same settings` },
  );
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
  const { url, pointer, is } = groupOf(settings, 'deployed');
  // An earlier slice compared the page with this build, and the receipt is about it.
  const build = [url, pointer, is, settings['receipt.subjects']].map((setting) => setting?.value);
  const asked = planned.map((gate) => [gate.name, askedFor(gate, output.redact)]);
  const request = sha256(apiUrl, build, ...asked).slice(0, 12);
  const bodies = planned.map((gate) => [gate.name, bodyOf(gate)]);
  const folder = findRoot(io.cwd, io.exists) ?? io.cwd;
  const { runId, job, attempt, jobId, matrix, parallelIndex } = ci;
  // A CI job does not join the run of another job, or of itself before its re-run: that may have ended before.
  const place = [folder, runId, job, attempt, jobId, matrix, parallelIndex];
  const ownName = sha256(place, apiUrl, build, bodies, idempotencyKey, idempotencySalt).slice(0, 22);
  const file = gatesFile(context);

  const waits = ({ needs, preview }: CommandGate) =>
    needs.length > 0 || preview !== undefined || url !== undefined;
  const own = { id: crypto.randomUUID().slice(0, 8), request, startedAt };
  const fresh = newGates(own, planned, waits, output.redact);
  const choose = (known: KnownGates) => {
    const [name, found] =
      resume === undefined ? [ownName, known[ownName]] : resumed(resume, request, known, ownName);
    const isLive = resume !== undefined || (found?.reported !== true && (found?.endsAt ?? 0) > startedAt);
    const joined = isLive && found !== undefined ? inThisClock(found, startedAt) : undefined;
    return { name, joined, state: flags.new === true ? fresh : (joined ?? fresh) };
  };
  let chosen = choose(await file.read());
  const isOurs = (saved: SavedGates | undefined) => saved?.id === chosen.state.id;
  let isKept = false;
  // Before anything is sent, since a slice that is killed is found by its keys; and under the lock, since another command may begin now.
  await file.change((known) => {
    chosen = choose(known);
    const { name, state } = chosen;
    // A newer gate of the same request keeps its place.
    isKept = resume === undefined || known[name] === undefined || isOurs(known[name]);
    return isKept ? [name, state] : undefined;
  });
  const { name, joined, state } = chosen;
  const age = (from: SavedGates) =>
    `${formatDuration(startedAt - from.startedAt)} ago (${new Date(from.startedAt).toISOString()})`;
  const runsIn = (from: SavedGates) => liveRuns(from).map(({ runId }) => output.excerpt(runId, 80));
  if (joined === state)
    await output.alert(
      `going on with ${runsIn(joined).join(', ') || 'the gate'}; the gate began ${age(joined)}`,
    );
  else if (joined !== undefined)
    for (const runId of runsIn(joined))
      await output.alert(
        `leaving ${runId}, started ${age(joined)}, as it is; to cancel it, run: ${selfName(io)} run cancel ${runId}`,
      );

  const save = () =>
    file.change((known) => {
      isKept = isOurs(known[name]);
      if (!isKept) return undefined;
      // Another command in this work tree may have reported it.
      if (known[name]?.reported) state.reported = true;
      return [name, state];
    });

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
      ...['--resume', isKept && file.isUsable() ? state.id : tokenOf(state)],
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
        state.reported = true;
        await save();
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
