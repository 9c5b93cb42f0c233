import type { Clock } from '../clock.ts';
import type { Conceal } from '../conceal.ts';
import type { RungateError } from '../errors.ts';
import type { Transport } from '../transport/transport.ts';

export interface Exchange {
  /** The reply, checked against the contract; undefined where it was empty and may be. */
  value: unknown;
  /** The reply's body as it came, after decoding. */
  text: string;
  status: number;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Where the response came from, if a redirect was followed. */
  finalUrl?: string | undefined;
  /** HTTP requests made, those that a rate limit refused included. */
  attempts: number;
  /** From the first byte sent to the reply, waits included, in milliseconds. */
  elapsedMs: number;
  /** Takes secrets out of what is shown of it. */
  conceal: Conceal;
}

/** One HTTP request and what came of it, or the wait before the next; never a secret. */
export type ExchangeEvent =
  | {
      type: 'try';
      endpoint: string;
      method: string;
      path: string;
      /** 1 for the first. */
      attempt: number;
      /** What was answered, when something was. */
      status?: number;
      /** The stable code of the error, when it failed. */
      code?: string;
      elapsedMs: number;
    }
  | { type: 'wait'; endpoint: string; attempt: number; waitMs: number; reason: string };

/** The limits of one call; all durations in milliseconds. */
export interface CallLimits {
  /** The whole call, sleeps included; what a rate limit makes us wait is on `limitTimeoutMs`. */
  timeoutMs: number;
  /** One try. */
  requestTimeoutMs: number;
  /** Tries, those that a rate limit refused not counted; with 1 a rate limit is not waited out either. */
  attempts: number;
  /** How long rate limits are waited out. */
  limitTimeoutMs: number;
}

export interface CallContext {
  limits: CallLimits;
  transport: Transport;
  clock: Clock;
  random: () => number;
  check: boolean;
  signal: AbortSignal;
  onExchange?: ((event: ExchangeEvent) => void) | undefined;
  onRetry?: ((error: RungateError, waitMs: number) => void) | undefined;
}
