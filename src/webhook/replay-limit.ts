import { WebhookVerificationError } from './error.ts';
import type { ReplayStore } from './replay-store.ts';

function timeout(limitMs: number): WebhookVerificationError {
  return new WebhookVerificationError(
    'store_timeout',
    `the replay store did not answer within ${limitMs} ms`,
    'check the connection to the store; the delivery was not handled: answer with 500, and the sender tries again',
  );
}

/** @throws `store_timeout` when the answer takes longer */
function within<Value>(answer: Promise<Value>, limitMs: number): Promise<Value> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(timeout(limitMs)), limitMs);
    answer.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}

/**
 * A store that answers within a time limit or fails: Redis clients keep commands while Redis is away, and wait without an end.
 * A claim that is made too late is taken back, or taken over by the sender's next attempt at the same delivery.
 * @param limitMs milliseconds for each call
 */
export function limited(store: ReplayStore, limitMs: number): ReplayStore {
  const late = new Map<string, Promise<boolean>>();

  const leave = (key: string, answer: Promise<boolean>) => {
    late.set(key, answer);
    const settled = async (claimed: boolean) => {
      if (late.get(key) !== answer) return;
      late.delete(key);
      if (claimed) await store.delete(key);
    };
    // The caller has had an error already; a claim that cannot be taken back expires.
    answer.then(settled, () => settled(false)).catch(() => {});
  };

  return {
    async setIfAbsent(key, ttlMs) {
      const answer = late.get(key) ?? Promise.resolve(store.setIfAbsent(key, ttlMs));
      late.delete(key);
      try {
        return await within(answer, limitMs);
      } catch (error) {
        if (WebhookVerificationError.is(error) && error.code === 'store_timeout') leave(key, answer);
        throw error;
      }
    },
    async delete(key) {
      return within(Promise.resolve(store.delete(key)), limitMs);
    },
  };
}
