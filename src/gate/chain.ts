import { createHash } from 'node:crypto';
import type { KeyChain, KeyStep } from './events.ts';
import type { RunOutcome } from './poll.ts';

/** A run of the gate cannot have failed so soon after it was created, in milliseconds. */
export const soonestMs = 5_000;

/** The links that the gate uses at most before the random key. */
export const mostLinks = ({ attempt, retries }: Pick<KeyChain, 'attempt' | 'retries'>): number =>
  attempt === null ? 4 : attempt * (1 + retries) + 1;

/** Returns the key after the one whose run had ended: a hash of both, so that every re-run of a job finds the same runs in the same order. */
export const linkAfter = (key: string, runId: string): string =>
  createHash('sha256')
    .update(JSON.stringify([key, runId]))
    .digest('hex');

/** Returns the chain at its first link. */
export const chainOf = (link: KeyStep, attempt: number | null, retries: number): KeyChain => ({
  link,
  at: 0,
  attempt,
  retries,
  spare: link.trust === 'given' ? null : crypto.randomUUID(),
  failures: 0,
  doubt: false,
});

const follow = (chain: KeyChain, link: KeyStep): KeyChain => ({ ...chain, link, at: chain.at + 1 });

/** Returns the chain at its random key, or null if that is in use. */
export function useSpare(chain: KeyChain): KeyChain | null {
  const { spare, link } = chain;
  if (spare === null) return null;
  return { ...follow(chain, { key: spare, trust: 'random', retry: link.retry }), spare: null, failures: 0 };
}

/**
 * Returns the chain after a run that was passed over; null if no key is left.
 * @param afterMs the time from the request that creates it to its first clear read
 */
export function passOver(
  chain: KeyChain,
  runId: string,
  { verdict }: RunOutcome,
  afterMs: number,
): KeyChain | null {
  const { link, at } = chain;
  const isLate = afterMs > soonestMs && (verdict === 'failed' || verdict === 'blocked');
  const passed: KeyChain = {
    ...chain,
    failures: verdict === 'failed' ? chain.failures + 1 : 0,
    doubt: chain.doubt || isLate,
  };
  if (link.trust === 'random' || at + 1 >= mostLinks(chain)) return useSpare(passed);
  const { trust, retry } = link;
  return follow(passed, { key: linkAfter(link.key, runId), trust, retry });
}

/** Returns the chain after a run of the gate that failed. Nobody can have used the next key before that run ended. */
export function retryAfter(chain: KeyChain, runId: string): KeyChain {
  const { key, trust, retry = 0 } = chain.link;
  const isOnlyOurs = trust === 'random' || trust === 'given';
  const next: KeyStep = {
    key: linkAfter(key, runId),
    trust: isOnlyOurs ? 'random' : 'job',
    retry: retry + 1,
  };
  return { ...follow(chain, next), failures: 0 };
}
