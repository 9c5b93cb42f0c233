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

/** Returns whether the event counts although its work was aborted: something has been created. */
export const outlivesAbort = ({ type }: Event): boolean => type === 'created' || type === 'environment';

interface UnderWay {
  effect: Work;
  aborter: AbortController;
}

/** The work under way: starts what the state asks for, and aborts what it no longer does. */
class Workers {
  /** The errors of work, by its id. It is not started again. */
  readonly bugs = new Map<string, unknown>();
  readonly #underWay = new Map<string, UnderWay>();
  readonly #work: RunnerTools['work'];
  readonly #tell: Tell;
  readonly #isWanted: (id: string) => boolean;
  readonly #onEnd: () => void;

  constructor(work: RunnerTools['work'], tell: Tell, isWanted: (id: string) => boolean, onEnd: () => void) {
    this.#work = work;
    this.#tell = tell;
    this.#isWanted = isWanted;
    this.#onEnd = onEnd;
  }

  get areIdle(): boolean {
    return this.#underWay.size === 0;
  }

  /** Returns the time at which there is more to do. */
  follow(effects: readonly Effect[], now: number): number {
    const ids = new Set(effects.map(({ id }) => id));
    for (const { effect, aborter } of this.#underWay.values()) if (!ids.has(effect.id)) aborter.abort();
    for (const effect of effects) {
      const isDue = !('at' in effect) || effect.at <= now;
      if (effect.type !== 'timer' && isDue && !this.#isBlocked(effect)) this.#start(effect);
    }
    return Math.min(...effects.flatMap((effect) => ('at' in effect && effect.at > now ? [effect.at] : [])));
  }

  abort(): void {
    for (const { aborter } of this.#underWay.values()) aborter.abort();
  }

  #start(effect: Work): void {
    const aborter = new AbortController();
    this.#underWay.set(effect.id, { effect, aborter });
    let hasTold = false;
    const tell: Tell = async (event) => {
      hasTold = true;
      // `follow` may not have seen yet that this work has gone.
      if (!this.#isWanted(effect.id)) aborter.abort();
      if (!aborter.signal.aborted || outlivesAbort(event)) await this.#tell(event);
    };
    this.#work(effect, tell, aborter.signal)
      .then(() => {
        // The state would ask for the same work again, for ever.
        if (!hasTold && !aborter.signal.aborted) throw new Error(`${effect.id} has changed nothing`);
      })
      .catch((error: unknown) => {
        if (!aborter.signal.aborted) this.bugs.set(effect.id, error);
      })
      .finally(() => {
        this.#underWay.delete(effect.id);
        this.#onEnd();
      });
  }

  /** The same work is under way or had a bug, or other work on the same environment is under way. */
  #isBlocked(effect: Work): boolean {
    const isPrepared = effect.type === 'remove' && this.#underWay.has(`prepare ${effect.key}`);
    return this.#underWay.has(effect.id) || this.bugs.has(effect.id) || isPrepared;
  }
}

/**
 * Runs a plan until all gates have ended, or a slice has.
 * @param first what has happened to the plan before: `resumed`, or `time` for a new one
 * @throws what work throws, which is a bug, after the plan was stopped
 */
export async function run(plan: PlanState, first: Event, tools: RunnerTools): Promise<PlanState> {
  const { clock, now, save, say, work } = tools;
  let state = plan;
  let changed = new AbortController();
  const tell: Tell = async (event) => {
    const before = state;
    state = decide(before, event, now());
    say(event, before, state);
    changed.abort();
    if (durable(before) !== durable(state)) await save(state);
  };
  const isWanted = (id: string) => todo(state).some((effect) => effect.id === id);
  const workers = new Workers(work, tell, isWanted, () => changed.abort());
  const forget = tools.listen(tell);
  try {
    await tell(first);
    for (;;) {
      changed = new AbortController();
      // The runs of the other gates must not go on without a gate.
      if (workers.bugs.size > 0 && causeOf(state) === null) await tell({ type: 'stop', by: 'fail-fast' });
      const at = workers.follow(todo(state), now());
      if (workers.areIdle && isOver(state)) break;
      if (await slept(at - now(), changed.signal, clock)) await tell({ type: 'time' });
    }
    await save(state);
    for (const bug of workers.bugs.values()) throw bug;
    return state;
  } finally {
    forget();
    workers.abort();
  }
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
