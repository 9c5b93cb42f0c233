import type { Io } from '../host/io.ts';
import type { LiveStyle, View } from './live/model.ts';
import type { Spinner } from './live/spinner.ts';
import { shorten } from './text.ts';

/** A wait that is over sooner is not shown. */
const patienceMs = 150;

/** What moves on the terminal while a person waits: the view that was shown last. */
export interface Motion {
  /** Whether a person watches a terminal on which something may move. */
  readonly possible: boolean;
  /** Loads what draws, so that `show` draws at once. */
  load(): Promise<void>;
  /** Shows a view until the returned function is called. */
  show(view: View): () => void;
  /** Draws what has changed at once. */
  draw(): void;
  /** Shows a spinner with a text when the work takes a while, unless something is shown already. */
  during<Result>(text: string, work: Promise<Result>): Promise<Result>;
  /** Takes away what is shown, for good. */
  end(): void;
}

/** Whether the environment says that this is a CI, as most of them do. */
export function inCi({ CI }: Io['env']): boolean {
  return CI !== undefined && !['', '0', 'false'].includes(CI);
}

/** A CI may lend its jobs a terminal, and keeps a log. */
function canMove({ env, err }: Io, quiet: boolean): boolean {
  return err.isTTY && env.TERM !== 'dumb' && !inCi(env) && !quiet;
}

/** Terminals that have a few hundred characters, and no more. */
export function hasSymbols({ env, platform }: Pick<Io, 'env' | 'platform'>): boolean {
  if (platform !== 'win32') return env.TERM !== 'linux';
  return env.WT_SESSION !== undefined || env.TERM_PROGRAM !== undefined || env.TERM !== undefined;
}

export function createMotion(io: Io, quiet: boolean, paint: LiveStyle['paint']): Motion {
  const terminal = canMove(io, quiet) ? io.err.terminal : undefined;
  const views: View[] = [];
  let ended = false;
  let drawing: typeof import('./live/spinner.ts') | undefined;
  let spinner: Spinner | undefined;

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
    possible: terminal !== undefined,
    load,
    show,
    draw: () => spinner?.draw(),
    async during(text, work) {
      if (terminal === undefined || views.length > 0) return work;
      let hide = () => {};
      const stopWaiting = io.every(patienceMs, () => {
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
    end() {
      ended = true;
      views.length = 0;
      openOrClose();
    },
  };
}
