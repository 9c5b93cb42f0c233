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

/** Grants requests within a budget, the most urgent first. */
export interface Scheduler {
  /**
   * Resolves when the request may be sent. Rejects with the signal's reason when the request is no longer wanted, and with
   * what the budget throws.
   * @param request `waitedMs` is how long the gate has waited for this grant already, at another hub or on another connection
   */
  grant(request: Pick<GrantRequest, 'class' | 'waitedMs'>, signal: AbortSignal): Promise<void>;
  /** How many requests wait in each line. */
  waiting(): Readonly<Record<RequestLine, number>>;
  /** How long the oldest request in each line has waited; 0 for an empty line. */
  oldestSeconds(): Readonly<Record<RequestLine, number>>;
}

interface Waiting {
  since: number;
  deadline: number;
  granted(): void;
  failed(error: unknown): void;
}

export function createScheduler(reserve: Budget['reserve'], clock: Clock): Scheduler {
  const queues: Record<RequestLine, Waiting[]> = { create: [], read: [], safety: [] };
  const serving = new Set<RequestLine>();
  /** First reads that are not in the queue yet. */
  let held = 0;

  /** Runs while requests wait in the line. */
  const serve = async (line: RequestLine) => {
    const queue = queues[line];
    try {
      for (let head = queue[0]; head !== undefined; head = queue[0]) {
        const { deadline } = head;
        const ahead = lines.filter((other) => (queues[other][0]?.deadline ?? deadline) < deadline);
        const reservation = await reserve(line, ahead.length);
        // A more urgent request may have arrived in the meantime, or the last one may have gone away.
        if (reservation.granted) queue.shift()?.granted();
        else await clock.sleep(Math.min(reservation.retryMs, retryMs));
      }
    } catch (error) {
      for (const waiting of queue.splice(0)) waiting.failed(error);
    }
  };

  const start = (line: RequestLine) => {
    if (serving.has(line)) return;
    serving.add(line);
    serve(line).finally(() => {
      serving.delete(line);
      if (queues[line].length > 0) start(line);
    });
  };

  const enqueue: Scheduler['grant'] = ({ class: kind, waitedMs }, signal) => {
    const line = lineOf(kind);
    const queue = queues[line];
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason);
      const leave = () => {
        const index = queue.indexOf(entry);
        if (index >= 0) queue.splice(index, 1);
        reject(signal.reason);
      };
      const since = clock.monotonic() - waitedMs;
      const entry: Waiting = {
        since,
        deadline: since + patienceMs[kind],
        granted() {
          signal.removeEventListener('abort', leave);
          resolve();
        },
        failed(error) {
          signal.removeEventListener('abort', leave);
          reject(error);
        },
      };
      signal.addEventListener('abort', leave, { once: true });
      const after = queue.findIndex((other) => other.deadline > entry.deadline);
      queue.splice(after < 0 ? queue.length : after, 0, entry);
      start(line);
    });
  };

  return {
    async grant(request, signal) {
      const { class: kind, waitedMs } = request;
      const heldMs = kind === 'first' && queues.safety.length > 0 ? Math.max(0, firstReadMs - waitedMs) : 0;
      if (heldMs > 0) {
        held += 1;
        await clock.sleep(heldMs, signal).finally(() => {
          held -= 1;
        });
      }
      return enqueue({ ...request, waitedMs: waitedMs + heldMs }, signal);
    },
    waiting: () => ({
      create: queues.create.length,
      read: queues.read.length + held,
      safety: queues.safety.length,
    }),
    oldestSeconds() {
      const now = clock.monotonic();
      const oldest = (line: RequestLine) =>
        Math.max(0, ...queues[line].map(({ since }) => now - since)) / 1000;
      return { create: oldest('create'), read: oldest('read'), safety: oldest('safety') };
    },
  };
}
