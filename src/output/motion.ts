import type { Io } from '../host/io.ts';
import type { LiveStyle, View } from './live/model.ts';
import type { openSpinner } from './live/spinner.ts';
import { shorten } from './text.ts';

/** The spinner appears only if the work takes longer than this. */
const spinnerDelayMs = 150;

/** Whether the environment variable `CI` is set, as most CI systems do. */
export function inCi({ CI }: Io['env']): boolean {
  return CI !== undefined && !['', '0', 'false'].includes(CI);
}

/** Whether the terminal can be animated. Not in CI: even if it gives jobs a terminal, it keeps the output as a log. */
function canMove({ env, err }: Io, quiet: boolean): boolean {
  return err.isTTY && env.TERM !== 'dumb' && !inCi(env) && !quiet;
}

/** Whether the terminal has Unicode symbols, unlike the Linux console and the old Windows console. */
export function hasSymbols({ env, platform }: Pick<Io, 'env' | 'platform'>): boolean {
  if (platform !== 'win32') return env.TERM !== 'linux';
  return env.WT_SESSION !== undefined || env.TERM_PROGRAM !== undefined || env.TERM !== undefined;
}

export type Motion = ReturnType<typeof createMotion>;

/** Returns the animation on the terminal while a person waits. If several views are shown, it draws the last one. */
export function createMotion(io: Io, quiet: boolean, paint: LiveStyle['paint']) {
  const terminal = canMove(io, quiet) ? io.err.terminal : undefined;
  const views: View[] = [];
  let ended = false;
  let drawing: typeof import('./live/spinner.ts') | undefined;
  let spinner: ReturnType<typeof openSpinner> | undefined;

  /** Loads the drawing code, so that `show` draws immediately. */
  const load = async () => {
    if (terminal !== undefined) drawing ??= await import('./live/spinner.ts');
  };
  const openOrClose = () => {
    if (views.length === 0) {
      spinner?.close();
      spinner = undefined;
    } else if (terminal !== undefined && drawing !== undefined) {
      const style = { paint, symbols: hasSymbols(io) };
      spinner ??= drawing.openSpinner(terminal, io, style, (size) => views.at(-1)?.(size) ?? []);
    }
  };
  /** Shows a view until the returned function is called. */
  const show = (view: View) => {
    if (terminal === undefined || ended) return () => {};
    views.push(view);
    if (drawing === undefined) void load().then(openOrClose);
    else openOrClose();
    return () => {
      views.splice(views.indexOf(view), 1);
      openOrClose();
    };
  };
  return {
    /** Whether a person is watching a terminal that can be animated. */
    possible: terminal !== undefined,
    load,
    show,
    draw: () => spinner?.draw(),
    /** Shows a spinner with a text if the work takes longer than 150 ms and no view is shown. */
    async during<Result>(text: string, work: Promise<Result>): Promise<Result> {
      if (terminal === undefined || views.length > 0) return work;
      let hide = () => {};
      const stopWaiting = io.every(spinnerDelayMs, () => {
        stopWaiting();
        if (views.length > 0) return;
        hide = show(({ columns }) => [shorten(text, columns - 2)]);
      });
      try {
        return await work;
      } finally {
        stopWaiting();
        hide();
      }
    },
    /** Removes the animation permanently. */
    end() {
      ended = true;
      views.length = 0;
      openOrClose();
    },
  };
}
