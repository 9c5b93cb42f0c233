import type { Clock } from '../clock.ts';
import { untilAborted } from '../transport/stop.ts';
import { decide, type Event } from './decide.ts';
import { causeOf, durable, type PlanState } from './state.ts';
import { type Effect, isOver, todo } from './todo.ts';

/** Reports an event. Resolves when what it changed is saved, if it must be. */
export type Tell = (event: Event) => Promise<void>;

export type Work = Exclude<Effect, { type: 'timer' }>;

export interface RunnerTools {
  clock: Pick<Clock, 'sleep'>;
  /** The wall time in milliseconds, which never jumps. */
  now(): number;
  /** Does the work of an effect, and reports what comes of it. After an abort, it ends as soon as nothing is lost by that. */
  work(effect: Work, tell: Tell, signal: AbortSignal): Promise<void>;
  save(plan: PlanState): Promise<void>;
  /** Hears of each event, with the states before and after it. */
  say(event: Event, before: PlanState, after: PlanState): void;
  /** Reports events from outside: stops, and what the hub says. Returns a function that ends it. */
  listen(tell: Tell): () => void;
}

interface UnderWay {
  effect: Work;
  aborter: AbortController;
}

/**
 * Runs a plan until all gates have ended, or a slice has. Starts what the state asks for, and aborts what it no longer does.
 * @param first what has happened to the plan before: `resumed`, or `time` for a new one
 * @throws what work throws, which is a bug, after the plan was stopped
 */
export async function run(plan: PlanState, first: Event, tools: RunnerTools): Promise<PlanState> {
  const { clock, now, save, say, work } = tools;
  const underWay = new Map<string, UnderWay>();
  /** The errors of work, by its id. It is not started again. */
  const bugs = new Map<string, unknown>();
  let state = plan;
  let changed = new AbortController();

  const tell: Tell = async (event) => {
    const before = state;
    state = decide(before, event, now());
    say(event, before, state);
    changed.abort();
    if (durable(before) !== durable(state)) await save(state);
  };

  const start = (effect: Work) => {
    const aborter = new AbortController();
    underWay.set(effect.id, { effect, aborter });
    let hasTold = false;
    const tellOf: Tell = (event) => {
      hasTold = true;
      return tell(event);
    };
    work(effect, tellOf, aborter.signal)
      .then(() => {
        // The state would ask for the same work again, for ever.
        if (!hasTold && !aborter.signal.aborted) throw new Error(`${effect.id} has changed nothing`);
      })
      .catch((error: unknown) => {
        if (!aborter.signal.aborted) bugs.set(effect.id, error);
      })
      .finally(() => {
        underWay.delete(effect.id);
        changed.abort();
      });
  };

  /** Starts and aborts work. Returns the time at which there is more to do. */
  const follow = (): number => {
    const effects = todo(state);
    const ids = new Set(effects.map(({ id }) => id));
    for (const { effect, aborter } of underWay.values()) if (!ids.has(effect.id)) aborter.abort();
    const time = now();
    const later = effects.flatMap((effect) => ('at' in effect && effect.at > time ? [effect.at] : []));
    for (const effect of effects) {
      const isDue = !('at' in effect) || effect.at <= time;
      if (effect.type === 'timer' || !isDue || bugs.has(effect.id)) continue;
      if (!isBlocked(effect, underWay)) start(effect);
    }
    return Math.min(...later);
  };

  const forget = tools.listen(tell);
  try {
    await tell(first);
    for (;;) {
      changed = new AbortController();
      // The runs of the other gates must not go on without a gate.
      if (bugs.size > 0 && causeOf(state) === null) await tell({ type: 'stop', by: 'fail-fast' });
      const at = follow();
      if (underWay.size === 0 && isOver(state)) break;
      if (await slept(at - now(), changed.signal, clock)) await tell({ type: 'time' });
    }
    await save(state);
    for (const bug of bugs.values()) throw bug;
    return state;
  } finally {
    forget();
    for (const { aborter } of underWay.values()) aborter.abort();
  }
}

/** The same work is under way, or other work on the same environment. */
function isBlocked(effect: Work, underWay: ReadonlyMap<string, UnderWay>): boolean {
  const isPrepared = effect.type === 'remove' && underWay.has(`prepare ${effect.key}`);
  return underWay.has(effect.id) || isPrepared;
}

/** Returns whether the time is up before the signal. */
const slept = (ms: number, signal: AbortSignal, clock: Pick<Clock, 'sleep'>): Promise<boolean> =>
  Promise.race([
    clock.sleep(Math.max(0, ms), signal).then(
      () => true,
      () => false,
    ),
    untilAborted(signal).then(() => false),
  ]);
