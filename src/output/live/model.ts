import type { Tone } from '../text.ts';

export interface Size {
  columns: number;
  rows: number;
}

/** Returns the lines to show on a terminal of a size. The first one follows a spinner of one column and a space. */
export type View = (size: Size) => readonly string[];

/** A run in the live view. All texts are sanitized, one line each. */
export interface LiveRun {
  /** The gate of the run, if there are several. */
  gate?: string;
  name: string;
  /** The number of the retry that started the run; 0 for the first run. */
  retry: number;
  /** Null if the name is the id. */
  id: string | null;
  url: string | null;
  /** `going`, or the gate's action for the verdict; `waiting` and `skipped` if the gate has no run. */
  phase: 'going' | 'pass' | 'warn' | 'fail' | 'waiting' | 'skipped';
  /** The state of the run, or its verdict once it has ended. */
  state: string;
  /** Whether the last status read failed and will be retried. */
  trouble: boolean;
  failed: number | null;
  blocked: number | null;
  /** `3/60`, or `3` if only the time is limited. */
  reads: string;
  /** Null if the gate has no run. */
  elapsedMs: number | null;
  /** Milliseconds until the next status read; 0 during a read; Infinity if only the hub knows; null after the last one. */
  nextMs: number | null;
}

export interface LiveModel {
  runs: readonly LiveRun[];
  elapsedMs: number;
}

export interface LiveStyle {
  paint(tone: Tone, text: string): string;
  /** Null if it does not support links. */
  link: ((url: string, text: string) => string) | null;
  /** False if it has no Unicode symbols. */
  symbols: boolean;
}

/** The mark before the row of a run, as a Unicode symbol and in ASCII. */
export const marks = {
  going: { tone: 'busy', symbol: '•', plain: '*' },
  pass: { tone: 'good', symbol: '✓', plain: '+' },
  warn: { tone: 'warn', symbol: '!', plain: '!' },
  fail: { tone: 'bad', symbol: '✗', plain: 'x' },
  waiting: { tone: 'dim', symbol: '·', plain: '.' },
  skipped: { tone: 'warn', symbol: '-', plain: '-' },
} as const satisfies Record<LiveRun['phase'], { tone: Tone; symbol: string; plain: string }>;
