import { NetworkError, type RungateError } from '../errors.ts';
import { createEffect } from './create-effect.ts';
import { type EffectTools, type LiveGate, turnOf } from './effect-tools.ts';
import { errorData, requestedMs } from './error-data.ts';
import { failureOf, isUnsent } from './failed-read.ts';
import { turnToRead } from './fleet/turns.ts';
import { waitEndOf } from './reads.ts';
import type { Tell, Work } from './runner.ts';
import type { Removal } from './start.ts';
import { latestOf } from './steps.ts';

type Of<Type extends Work['type']> = Extract<Work, { type: Type }>;

/** Does the work of an effect. Errors that are not rungate's are bugs. */
export async function doWork(
  effect: Work,
  tell: Tell,
  signal: AbortSignal,
  tools: EffectTools,
): Promise<void> {
  switch (effect.type) {
    case 'read':
      return read(effect, tell, signal, tools);
    case 'create':
      return createEffect(effect, tell, signal, tools);
    case 'cancel':
      return cancel(effect, tell, signal, tools);
    case 'turn':
      return turn(effect, tell, signal, tools);
    case 'page': {
      const { build, error } = await tools.readPage(effect.confirms, signal);
      const data = error && errorData(error);
      return tell({ type: 'page', build, error: data, confirms: effect.confirms });
    }
    case 'reach':
      return reach(effect, tell, signal, tools);
    case 'prepare':
      return prepare(effect, tell, signal, tools);
    case 'remove':
      return remove(effect, tell, tools);
  }
}

/** Reads the status of a run once, when it has its turn. */
async function read(
  { gate: name, run }: Of<'read'>,
  tell: Tell,
  signal: AbortSignal,
  tools: EffectTools,
): Promise<void> {
  const { service, clock, random, budget, limited, keep } = tools;
  const gate = tools.gateOf(name);
  const { hub } = gate;
  const state = gate.state();
  const end = tools.monotonic(Math.max(waitEndOf(state) ?? 0, state.lastReadBy ?? 0));
  const limits = { past: budget.reads, limited };
  if (!(await turnToRead(tools.watched(run), end, limits, { hub, clock, signal })))
    return tell({ type: 'too-late', gate: name });
  await tell({ type: 'reading', gate: name, run });
  try {
    const timeoutMs = Math.max(1, end - clock.monotonic());
    const { reading, retryAfterMs = null } = await service.read(run, { signal, timeoutMs });
    await tell({ type: 'read', gate: name, run, reading, retryAfterMs, random: random() });
  } catch (cause) {
    if (signal.aborted) return;
    // Nothing was sent, which says nothing about the run.
    if (isUnsent(cause)) throw cause;
    const error = keep(gate, cause);
    const retryAfterMs = requestedMs(error);
    const why = failureOf(error, clock.monotonic() >= end);
    if (why === 'limit') hub?.limited(retryAfterMs ?? 0);
    await tell({
      type: 'read-failed',
      gate: name,
      run,
      why,
      error: errorData(error),
      retryAfterMs,
      random: random(),
    });
  }
}

async function cancel(
  { gate: name, run }: Of<'cancel'>,
  tell: Tell,
  signal: AbortSignal,
  tools: EffectTools,
): Promise<void> {
  const gate = tools.gateOf(name);
  const end = tools.monotonic(gate.state().run?.cancelBy ?? 0);
  const timeoutMs = Math.max(1, end - tools.clock.monotonic());
  let error: RungateError | null = null;
  try {
    await tools.service.cancel(run, await tools.cancelReason(name), { timeoutMs, signal });
  } catch (cause) {
    // The time for it is up, for the rules as for the request.
    error = signal.aborted ? new NetworkError('deadline', 'no response in time') : tools.keep(gate, cause);
  }
  gate.emit({ type: 'cancelled', runId: run, error });
  await tell({ type: 'cancelled', gate: name, run, ok: error === null });
}

async function turn(
  { gate: name }: Of<'turn'>,
  tell: Tell,
  signal: AbortSignal,
  tools: EffectTools,
): Promise<void> {
  const inTime = await turnOf(tools.gateOf(name), signal, tools);
  await tell({ type: inTime ? 'granted' : 'too-late', gate: name });
}

/** Waits until the deployment responds. */
async function reach(
  { gate: name }: Of<'reach'>,
  tell: Tell,
  signal: AbortSignal,
  tools: EffectTools,
): Promise<void> {
  const gate = tools.gateOf(name);
  try {
    await gate.gate.start?.ready?.(signal);
    await tell({ type: 'reached', gate: name, error: null });
  } catch (cause) {
    if (signal.aborted) return;
    await tell({ type: 'reached', gate: name, error: errorData(tools.keep(gate, cause)) });
  }
}

/** Creates the environment, whose gates have begun or will. */
async function prepare(
  { key }: Of<'prepare'>,
  tell: Tell,
  signal: AbortSignal,
  tools: EffectTools,
): Promise<void> {
  const users = tools.usersOf(key);
  const turn = async () => {
    for (;;) {
      const user = mostPatient(users);
      if (await turnOf(user, signal, tools)) return true;
      // Another gate may have begun in the meantime.
      if (mostPatient(users) === user) return false;
    }
  };
  try {
    const creating = () => tell({ type: 'environment', key, step: 'creating', error: null });
    await users[0]?.gate.start?.environment?.prepare({ turn, creating }, signal);
    await tell({ type: 'environment', key, step: 'ready', error: null });
  } catch (cause) {
    if (signal.aborted) return;
    const [error] = users.map((user) => tools.keep(user, cause));
    await tell({ type: 'environment', key, step: 'failed', error: error ? errorData(error) : null });
  }
}

async function remove({ key }: Of<'remove'>, tell: Tell, { usersOf }: EffectTools): Promise<void> {
  const users = usersOf(key);
  const hadRun = users.map((user) => user.state()).some(({ run, past }) => run !== null || past.length > 0);
  let { step, error }: Removal = { step: 'kept', error: null };
  try {
    ({ step, error } = (await users[0]?.gate.start?.environment?.remove(hadRun)) ?? { step: 'none', error });
  } finally {
    await tell({ type: 'environment', key, step, error: error && errorData(error) });
  }
}

/** Returns the gate that can wait longest for its run. */
const mostPatient = (users: LiveGate[]): LiveGate =>
  users.reduce((one, other) => (latestOf(other.state()) > latestOf(one.state()) ? other : one));
