import type { Tone } from '../paint.ts';

/** A terminal's columns and rows. */
export interface Size {
  columns: number;
  rows: number;
}

/** The lines to show on a terminal of a size; the first one stands behind a spinner of one column and a space. */
export type View = (size: Size) => readonly string[];

/** What is shown of a run. All texts are harmless already, and of one line. */
export interface LiveRun {
  name: string;
  /** Null if it is the name. */
  id: string | null;
  url: string | null;
  /** `going`, or what the gate does about its end. */
  phase: 'going' | 'pass' | 'warn' | 'fail';
  /** The state while it goes on, the verdict once it has ended. */
  state: string;
  /** The last read failed, and is tried again. */
  trouble: boolean;
  failed: number | null;
  blocked: number | null;
  /** `3/60`, or `3` where only the time is limited. */
  attempt: string;
  elapsedMs: number;
  /** Until the next read; 0 while it is read; null when it is read no more. */
  nextMs: number | null;
}

export interface LiveModel {
  runs: readonly LiveRun[];
  elapsedMs: number;
}

/** What the terminal can. */
export interface LiveStyle {
  paint(tone: Tone, text: string): string;
  /** Null where it shows no links. */
  link: ((url: string, text: string) => string) | null;
  /** False where it has letters and little else. */
  symbols: boolean;
}

/** The mark before a run's row, with symbols and in plain letters. */
export const marks = {
  going: { tone: 'busy', symbol: '•', plain: '*' },
  pass: { tone: 'good', symbol: '✓', plain: '+' },
  warn: { tone: 'warn', symbol: '!', plain: '!' },
  fail: { tone: 'bad', symbol: '✗', plain: 'x' },
} as const satisfies Record<LiveRun['phase'], { tone: Tone; symbol: string; plain: string }>;
