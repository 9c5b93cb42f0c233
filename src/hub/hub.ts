import type { Clock } from '../clock.ts';
import type { BudgetStore, RequestLine } from './budget.ts';
import { possibleRunIds } from './deliveries.ts';
import { createScheduler, type Scheduler } from './scheduler.ts';
import type { Wake, WakeStore } from './wakes.ts';

/** The times of wake-ups come from the clocks of Redis and of several hubs, which may differ. */
const clockMarginMs = 60_000;

/** The parts of a hub, without its server. It holds no API key and decides no verdict. */
export interface Hub {
  grant: Scheduler['grant'];
  /**
   * Calls back for every delivery that names one of the runs: first for those since a time, then as they come.
   * Returns a function that ends that.
   */
  subscribe(runIds: readonly string[], since: number, onWake: (wake: Wake) => void): () => void;
  /**
   * Wakes the gates of the runs that a verified delivery may name. Returns how many ids it has.
   * @param json the body
   */
  deliver(json: string): number;
  /** Counts requests that gates have sent without a grant. */
  report(line: RequestLine, agesMs: readonly number[]): Promise<void>;
  /** A gate's request was refused because of the service's limit. */
  limited(retryAfterMs: number): Promise<void>;
  waiting: Scheduler['waiting'];
  oldestMs: Scheduler['oldestMs'];
  budget: BudgetStore['view'];
  /** Called every few seconds: the hub counts as one of those that share the budget, also while no gate waits. */
  beat(): void;
  /** Ends what the hub does in the background. */
  close(): void;
}

export function createHub(budget: BudgetStore, wakes: WakeStore, clock: Clock): Hub {
  const scheduler = createScheduler(budget, clock);
  const subscribers = new Map<string, Set<(wake: Wake) => void>>();
  const stopListening = wakes.listen((wake) => {
    for (const onWake of subscribers.get(wake.id) ?? []) onWake(wake);
  });
  return {
    grant: scheduler.grant,
    waiting: scheduler.waiting,
    oldestMs: scheduler.oldestMs,
    budget: () => budget.view(),
    close: stopListening,
    beat: () => void budget.refresh(),

    subscribe(runIds, since, onWake) {
      const end = () => {
        for (const id of runIds) {
          const others = subscribers.get(id);
          others?.delete(onWake);
          if (others?.size === 0) subscribers.delete(id);
        }
      };
      for (const id of runIds) subscribers.set(id, (subscribers.get(id) ?? new Set()).add(onWake));
      for (const wake of wakes.namedSince(runIds, since - clockMarginMs)) onWake(wake);
      return end;
    },

    deliver(json) {
      const ids = possibleRunIds(json);
      wakes.announce([...ids]);
      return ids.size;
    },

    report: (line, agesMs) => budget.report(line, agesMs),
    limited: (retryAfterMs) => budget.reduce(retryAfterMs),
  };
}
