import type { Io } from './io.ts';

/** One line on a terminal that changes in place. */
export interface Spinner {
  /** Called for each frame, so that times in it run on. */
  show(text: () => string): void;
  /** Takes the line away, so that other lines can be written. */
  clear(): void;
  stop(): void;
}

/** A spinner on stderr, or null where there is no terminal to draw on. */
export async function createSpinner(io: Io): Promise<Spinner | null> {
  const { stream, isTTY } = io.err;
  if (!isTTY || stream === undefined || io.env.TERM === 'dumb') return null;
  const { default: ora } = await import('ora');
  // discardStdin would put the terminal into raw mode, and Ctrl-C would no longer be a signal.
  const spinner = ora({ stream, discardStdin: false, spinner: 'dots', color: 'cyan' });
  return {
    show(text) {
      spinner.suffixText = text;
      if (!spinner.isSpinning) spinner.start();
    },
    clear() {
      spinner.clear();
    },
    stop() {
      spinner.stop();
    },
  };
}
