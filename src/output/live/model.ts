import type { Tone } from '../output.ts';

/** What is shown of a run. All texts are harmless already, and of one line. */
export interface LiveRun {
  name: string;
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
  /** Counts up while the view is alive: it turns the spinner. */
  beat: number;
}

/** What the terminal can. */
export interface LiveStyle {
  paint(tone: Tone, text: string): string;
  /** Null where it shows no links. */
  link: ((url: string, text: string) => string) | null;
  /** False where it has letters and little else. */
  symbols: boolean;
}

/** A line with the number of columns it takes. */
export interface Line {
  text: string;
  columns: number;
}
