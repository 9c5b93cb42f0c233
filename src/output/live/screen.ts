import type { Io } from '../../host/io.ts';
import type { Size, Terminal } from '../../host/terminal.ts';
import { erase, type Frame, redraw, writeAbove } from './frame.ts';
import type { Line } from './model.ts';

/** Often enough for a spinner. */
export const beatMs = 100;

/** A view at the bottom of a terminal. Whatever anybody else writes there comes above it, and stays. */
export interface Screen {
  /** Draws what there is to show now; else it is drawn with the next beat. */
  draw(): void;
  /** Takes the view away. Nothing of it is left, and the terminal is as it was. */
  close(): Promise<void>;
}

/**
 * Draws a view time and again, and whenever the size of the terminal changes.
 *
 * Why not `log-update`: it asks the process for its streams, takes signals of its own (by `signal-exit`, which ends
 * the process where we still have a run to cancel), does not know that a terminal which becomes narrower breaks the
 * old lines, hides the cursor until the end, and takes 34 kB.
 */
export function openScreen(
  terminal: Terminal,
  { every, onExit, env }: Pick<Io, 'every' | 'onExit' | 'env'>,
  view: (size: Size) => Line[],
): Screen {
  const reflows = breaksAnew(env);
  let frame: Frame | null = null;
  let open = true;
  let writing = false;
  /** The beginning of a line that somebody has not ended yet. */
  let unfinished = '';

  const now = (): Frame => {
    const size = terminal.size();
    return { lines: view(size), size };
  };
  const write = (text: string): Promise<void> => {
    writing = true;
    return terminal.draw(text).finally(() => {
      writing = false;
    });
  };
  const draw = () => {
    // A terminal that is slower than we are gets fewer frames, not more and more of them.
    if (!open || writing) return;
    const next = now();
    const text = redraw(frame, next, reflows);
    frame = next;
    if (text !== '') void write(text);
  };
  const above = (text: string) => {
    const end = text.lastIndexOf('\n') + 1;
    const whole = unfinished + text.slice(0, end);
    unfinished = end === 0 ? unfinished + text : text.slice(end);
    if (end === 0) return Promise.resolve();
    const next = now();
    const drawn = writeAbove(frame, whole, next, reflows);
    frame = next;
    return write(drawn);
  };
  const close = async () => {
    if (!open) return;
    open = false;
    for (const stop of stops) stop();
    const text = frame === null ? '' : erase(frame, terminal.size().columns, reflows);
    if (text + unfinished !== '') await terminal.draw(text + unfinished);
  };
  const stops = [
    terminal.hold(above),
    terminal.onResize(draw),
    every(beatMs, draw),
    // A second signal, or a bug: there is time for one write, and for no promise.
    onExit(() => void close()),
  ];
  return { draw, close };
}

/** Terminals that cut lines off when they become narrower; all others break them anew. */
function breaksAnew({ TERM = '', TMUX, XTERM_VERSION }: Io['env']): boolean {
  if (TMUX !== undefined && TMUX !== '') return true;
  return XTERM_VERSION === undefined && !/^(linux|screen|rxvt|st\b|st-|xterm-direct)/.test(TERM);
}
