import { createCaller, ownRedactor } from '../client/caller.ts';
import type { ClientOptions } from '../client/options.ts';
import { type Clock, systemClock } from '../clock.ts';
import type { TriggerBody } from '../contract/run.ts';
import { NetworkError, UsageError } from '../errors.ts';
import type { Emit } from '../gate/events.ts';
import type { OpenHub } from '../gate/fleet/open-hub.ts';
import { permitCreate } from '../gate/fleet/permit.ts';
import { usualLimits } from '../gate/limits.ts';
import { runService } from '../gate/service.ts';
import * as core from '../gate/start.ts';
import { type RunSubject, subjectOf } from '../gate/subject.ts';
import { optionNames } from '../hint-names.ts';
import type { Redact } from '../redact.ts';
import { parseApiUrl } from '../transport/address.ts';
import {
  checkHub,
  checkMs,
  checkPointer,
  checkTrigger,
  type GateOptions,
  ownGateOptions,
} from './gate-options.ts';
import { openOptionHub } from './hub.ts';
import { observerOf } from './observer.ts';

/** Fills in the fields that the caller left out with those of the CI. */
function filled(body: TriggerBody, facts: Readonly<Record<string, string | null>>): TriggerBody {
  const given: Readonly<Record<string, unknown>> = { ...body };
  const missing = Object.entries(facts).filter(
    ([name, value]) => value !== null && given[name] === undefined,
  );
  return { ...body, ...Object.fromEntries(missing) };
}

/** Returns random keys, which no other call has used. */
const ownKeys = (retries: number): core.KeyStep[] =>
  Array.from({ length: retries + 1 }, (_, retry) => ({
    key: crypto.randomUUID(),
    how: 'random: each call starts a new run',
    origin: 'random',
    ...(retry > 0 && { retry }),
  }));

/** The options of a gate for its start. */
export type StartOptions = Pick<GateOptions, 'env' | 'idempotencyKey' | 'idempotencySalt' | 'idPointer'>;

/**
 * Returns the run to start: its body and its keys. The code that reads the CI is only loaded if `env` is given.
 * @param gate the name of the gate, if several share a journal
 */
export async function planStart(
  given: TriggerBody,
  options: StartOptions & Pick<GateOptions, 'retries'>,
  clock: Clock,
  emit: Emit,
  redact: Redact,
  gate?: string,
): Promise<{ start: core.Start; journal: core.RunJournal | undefined }> {
  // The caller's object may change during the wait, and a key must always come with the same body.
  const trigger = structuredClone(given);
  const { env, idempotencyKey: key, idempotencySalt: salt, idPointer, retries = 0 } = options;
  checkPointer('idPointer', idPointer, '/data/runId');
  if (salt !== undefined && (env === undefined || (key !== undefined && key !== 'auto'))) {
    throw new UsageError('idempotencySalt only changes the key that is made from env', {
      hint: 'give env too, and leave out idempotencyKey',
    });
  }
  if (env === undefined) {
    const own = key === undefined || key === 'auto';
    const keys = own ? ownKeys(retries) : core.givenKeys(key, 'given as idempotencyKey', retries);
    return { start: { body: trigger, keys, idPointer, names: optionNames }, journal: undefined };
  }
  const [{ detectCi }, { runFacts }, { planKeys }, { openJournal }] = await Promise.all([
    import('../ci/provider.ts'),
    import('../ci/context.ts'),
    import('../ci/idempotency.ts'),
    import('../ci/journal.ts'),
  ]);
  const ci = detectCi(env);
  const body = filled(trigger, runFacts(ci));
  const now = new Date(clock.now());
  const { keys, journal } = planKeys({
    given: key,
    how: 'given as idempotencyKey',
    salt: salt ?? null,
    retries,
    bodyBytes: JSON.stringify(body),
    ci,
    journalPath: env.RUNGATE_JOURNAL,
    open: (path) => openJournal(path, now, (message) => emit({ type: 'note', message }), redact, gate),
  });
  return { start: { body, keys, idPointer, names: optionNames }, journal };
}

/** The run to start and how to start it. The client options say how to reach the service. */
export interface StartRunOptions
  extends ClientOptions,
    StartOptions,
    Pick<GateOptions, 'hub' | 'signal' | 'onProgress'> {
  /** The run (interface, section 2.5). */
  trigger: NonNullable<GateOptions['trigger']>;
  /** The maximum time to wait for a rate limit, in milliseconds; default an hour. */
  timeoutMs?: number | undefined;
}

/** A run that was started or found again: the shape that `rungate run trigger --json` prints, with `reattached`. */
export interface StartedRun extends RunSubject {
  schemaVersion: 1;
  runId: string;
  appUrl: string | null;
  idempotencyKey: string;
  /** Whether an earlier attempt with the same key started the run. */
  reattached: boolean;
  /** Runs that had ended before their first status read and may belong to another job; absent if there are none. */
  discarded?: core.DiscardedRun[];
  /** The response of the service, which the interface does not show (section 4.3); null if it was empty. */
  response: unknown;
}

function mayExist(idempotencyKey: string): NetworkError {
  return new NetworkError('broken', 'a run may have been created: the call was aborted before the response', {
    hint: `start the run again with the idempotency key ${idempotencyKey} to find it`,
  });
}

/**
 * Starts a run without waiting for it: `rungate run trigger` as a function, with the same idempotency. To wait for it later,
 * give its id to `gate`.
 * @throws RungateError if no run could be created. After an abort it still checks whether the request created a run: it returns
 * that run, or else rejects with the signal's reason
 */
export async function startRun(given: StartRunOptions): Promise<StartedRun> {
  const options = ownGateOptions(given);
  const { clock = systemClock, timeoutMs } = options;
  checkTrigger(options.trigger);
  checkMs('timeoutMs', timeoutMs);
  checkHub(options.hub);
  parseApiUrl(options.apiUrl, options.insecureHttp, optionNames);
  const observer = observerOf(options);
  const { emit, onExchange } = observer;
  const redact = ownRedactor(options, options.hub?.token);
  const { start, journal } = await planStart(options.trigger, options, clock, emit, redact);
  const caller = createCaller({ ...options, onExchange }, redact, optionNames);
  const stop = new AbortController();
  const unsubscribe = observer.onStop(() => stop.abort());
  let hub: OpenHub | undefined;
  try {
    const service = runService(caller, clock.now);
    hub = await openOptionHub(options, clock, redact, emit);
    const tools = { service, clock, signal: stop.signal, journal, emit, hub: hub?.link };
    const limitMs = timeoutMs ?? usualLimits.timeoutMs;
    await permitCreate(limitMs, tools);
    const started = await core.startRun(start, limitMs, tools);
    if (started.kind === 'started') journal?.settled(started.run.runId);
    observer.throwIfFailed();
    const idempotencyKey = started.step.key;
    if (started.kind !== 'started')
      throw started.kind === 'none' ? options.signal?.reason : mayExist(idempotencyKey);
    const { run, reattached, discarded } = started;
    const { runId, appUrl, response = null } = run;
    const also = discarded.length === 0 ? {} : { discarded };
    const subject = subjectOf(start.body);
    return { schemaVersion: 1, runId, ...subject, appUrl, idempotencyKey, reattached, response, ...also };
  } finally {
    unsubscribe();
    await hub?.close();
    await caller.close();
  }
}
