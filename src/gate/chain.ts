import { createHash } from 'node:crypto';
import type { KeyChain, KeyStep } from './events.ts';

/** A run of the gate cannot have failed so soon after it was created, in milliseconds. */
export const soonestMs = 5_000;

/** The links that the gate uses at most before the random key. */
export const mostLinks = (attempt: number | null, retries: number): number =>
  attempt === null ? 4 : attempt * (1 + retries) + 1;

/** Returns the key after the one whose run had ended: a hash of both, so that every re-run of a job finds the same runs in the same order. */
export const linkAfter = (key: string, runId: string): string =>
  createHash('sha256')
    .update(JSON.stringify([key, runId]))
    .digest('hex');

/** Returns the chain at its first link. */
export const chainOf = (link: KeyStep, attempt: number | null): KeyChain => ({
  link,
  attempt,
  spare: link.trust === 'given' ? null : crypto.randomUUID(),
});
