import type { Clock } from '../clock.ts';
import type { Conceal } from '../conceal.ts';
import type { TriggerBody } from '../contract/run.ts';
import { UsageError } from '../errors.ts';
import type { Tell } from '../gate/events.ts';
import type { KeyStep, RunJournal, Start } from '../gate/start.ts';
import type { GateOptions } from './gate-options.ts';

/** What the caller left out, as the CI says it. */
function filled(body: TriggerBody, facts: Readonly<Record<string, string | null>>): TriggerBody {
  const given: Readonly<Record<string, unknown>> = { ...body };
  const missing = Object.entries(facts).filter(
    ([name, value]) => value !== null && given[name] === undefined,
  );
  return { ...body, ...Object.fromEntries(missing) };
}

/** A key for this call alone: nobody can have used it. */
const ownKey = (): KeyStep => ({
  key: crypto.randomUUID(),
  how: 'random: each call starts a run of its own',
  origin: 'random',
});

/** Those of a gate's options that say what is started. */
export type StartOptions = Pick<GateOptions, 'env' | 'idempotencyKey' | 'idempotencySalt' | 'idPointer'>;

/** The run to start: its body, and the keys to start it with. What reads a CI is loaded only where there is an environment. */
export async function planStart(
  given: TriggerBody,
  options: StartOptions,
  clock: Clock,
  tell: Tell,
  conceal: Conceal,
): Promise<{ start: Start; journal: RunJournal | undefined }> {
  // The caller's object may change while we wait, and a key must never come with two bodies.
  const trigger = structuredClone(given);
  const { env, idempotencyKey: key, idempotencySalt: salt, idPointer } = options;
  if (salt !== undefined && (env === undefined || (key !== undefined && key !== 'auto'))) {
    throw new UsageError('idempotencySalt goes into the key that is made of env, and of nothing else', {
      hint: 'give env as well, and no idempotencyKey',
    });
  }
  if (env === undefined) {
    const theirs = { how: 'given as idempotencyKey', origin: 'user' } as const;
    const step = key === undefined || key === 'auto' ? ownKey() : { key, ...theirs };
    return { start: { body: trigger, keys: [step], idPointer }, journal: undefined };
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
    bodyBytes: JSON.stringify(body),
    ci,
    journalPath: env.RUNGATE_JOURNAL,
    open: (path) => openJournal(path, now, (message) => tell({ type: 'note', message }), conceal),
  });
  return { start: { body, keys, idPointer }, journal };
}
