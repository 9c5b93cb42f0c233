import type { Clock } from '../clock.ts';
import type { GrantRequest, RequestClass } from '../gate/fleet/protocol.ts';
import type { Budget } from './budget.ts';
import { lines, type RequestLine } from './ledger.ts';

export const lineOf = (kind: RequestClass): RequestLine =>
  kind === 'first' || kind === 'confirm' ? 'read' : kind;

/** How much later than it arrived a request should be granted, in milliseconds: first reads may wait for confirmations. */
const patienceMs: Readonly<Record<RequestClass, number>> = { create: 0, confirm: 0, first: 5_000, safety: 0 };

/**
 * A first read waits this long while safety reads wait: a delivery about the start of the run may come and make it urgent, so
 * that both cost one read.
 */
const firstReadMs = 3_000;

/** How long a line waits at most before it tries again. */
const retryMs = 1_000;

interface Waiting {
  since: number;
  deadline: number;
  granted(): void;
}

/** Grants requests within a budget, the most urgent first. */
export class Scheduler {
  readonly #budget: Pick<Budget, 'reserve'>;
  readonly #clock: Clock;
  readonly #queues: Record<RequestLine, Waiting[]> = { create: [], read: [], safety: [] };
  readonly #serving = new Set<RequestLine>();
  /** First reads that are not in the queue yet. */
  #held = 0;

  constructor(budget: Pick<Budget, 'reserve'>, clock: Clock) {
    this.#budget = budget;
    this.#clock = clock;
  }

  /**
   * Resolves when the request may be sent. Rejects with the signal's reason when the request is no longer wanted.
   * @param request `waitedMs` is how long the gate has waited for this grant already, at another hub or on another connection
   * @param signal of this request alone
   */
  async grant(request: Pick<GrantRequest, 'class' | 'waitedMs'>, signal: AbortSignal): Promise<void> {
    const { class: kind, waitedMs } = request;
    const since = this.#clock.monotonic() - waitedMs;
    if (kind === 'first' && this.#queues.safety.length > 0 && waitedMs < firstReadMs) {
      this.#held += 1;
      await this.#clock.sleep(firstReadMs - waitedMs, signal).finally(() => {
        this.#held -= 1;
      });
    }
    signal.throwIfAborted();
    const line = lineOf(kind);
    const queue = this.#queues[line];
    await new Promise<void>((resolve, reject) => {
      const entry = { since, deadline: since + patienceMs[kind], granted: resolve };
      const after = queue.findIndex(({ deadline }) => deadline > entry.deadline);
      queue.splice(after < 0 ? queue.length : after, 0, entry);
      signal.addEventListener('abort', () => {
        const index = queue.indexOf(entry);
        if (index >= 0) queue.splice(index, 1);
        reject(signal.reason);
      });
      void this.#serve(line);
    });
  }

  /** Runs while requests wait in the line. */
  async #serve(line: RequestLine): Promise<void> {
    if (this.#serving.has(line)) return;
    this.#serving.add(line);
    const queue = this.#queues[line];
    for (let head = queue[0]; head !== undefined; head = queue[0]) {
      const { deadline } = head;
      const ahead = lines.filter((other) => (this.#queues[other][0]?.deadline ?? deadline) < deadline);
      const reservation = await this.#budget.reserve(line, ahead.length);
      // A more urgent request may have arrived in the meantime, or the last one may have gone away.
      if (reservation.granted) queue.shift()?.granted();
      else await this.#clock.sleep(Math.min(reservation.retryMs, retryMs));
    }
    this.#serving.delete(line);
  }

  /** Returns how many requests wait in each line. */
  waiting(): Readonly<Record<RequestLine, number>> {
    const { create, read, safety } = this.#queues;
    return { create: create.length, read: read.length + this.#held, safety: safety.length };
  }

  /** Returns how long the oldest request in each line has waited; 0 for an empty line. */
  oldestSeconds(): Readonly<Record<RequestLine, number>> {
    const now = this.#clock.monotonic();
    const oldest = (line: RequestLine) =>
      Math.max(0, ...this.#queues[line].map(({ since }) => now - since)) / 1000;
    return { create: oldest('create'), read: oldest('read'), safety: oldest('safety') };
  }
}
