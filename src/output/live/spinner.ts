import { stripVTControlCharacters } from 'node:util';
import ora, { spinners } from 'ora';
import type { Io } from '../../host/io.ts';
import type { Terminal } from '../../host/sink.ts';
import { columnsOf } from '../text.ts';
import type { LiveStyle, View } from './model.ts';

/** How often a view is looked at. */
const beatMs = 100;

const csi = '\u001b[';
const hideCursor = `${csi}?25l`;
const showCursor = `${csi}?25h`;
/** A line that is wider than we think is cut off by the terminal, and does not become two. */
const noWrap = `${csi}?7l`;
const wrap = `${csi}?7h`;

/** A view at the bottom of a terminal, with ora's spinner before its first line. What others write comes above it. */
export interface Spinner {
  /** Draws what there is to show now; else it is drawn with the next beat. */
  draw(): void;
  /** Takes the view away. Nothing of it is left, and the terminal is as it was. */
  close(): void;
}

/** A terminal that does not know its size says 0, which ora would divide by. */
function sizeOf(terminal: Terminal) {
  terminal.columns ||= 80;
  terminal.rows ||= 24;
  return { columns: terminal.columns, rows: terminal.rows };
}

/** Terminals that cut lines off when they become narrower; all others break them anew, without telling. */
function breaksAnew({ TERM = '', TMUX, XTERM_VERSION }: Io['env']): boolean {
  if (TMUX !== undefined && TMUX !== '') return true;
  return XTERM_VERSION === undefined && !/^(linux|screen|rxvt|st\b|st-|xterm-direct)/.test(TERM);
}

/** Draws a view until it is closed. */
export function openSpinner(
  terminal: Terminal,
  { every, onExit, env }: Pick<Io, 'every' | 'onExit' | 'env'>,
  { paint, symbols }: Pick<LiveStyle, 'paint' | 'symbols'>,
  view: View,
): Spinner {
  // The cursor rests below: not every terminal breaks the line anew on which it stands.
  const text = () => `${noWrap}${view(sizeOf(terminal)).join('\n')}\n${wrap}`;
  const { frames, interval } = symbols ? spinners.dots : spinners.line;
  const spinner = ora({
    text: text(),
    stream: terminal,
    isEnabled: true,
    color: false,
    spinner: { frames: frames.map((frame) => paint('busy', frame)), interval },
    // Both would handle signals in place of us.
    discardStdin: false,
    hideCursor: false,
  });
  const draw = () => {
    const next = text();
    if (next === spinner.text) return;
    spinner.text = next;
    spinner.render();
  };
  let { columns } = sizeOf(terminal);
  const resize = () => {
    const lines = stripVTControlCharacters(`  ${spinner.text}`).split('\n').map(columnsOf);
    const before = columns;
    columns = sizeOf(terminal).columns;
    spinner.text = text();
    const rows = lines.reduce((sum, width) => sum + Math.max(1, Math.ceil(width / columns)), 0);
    spinner.clear();
    // ora clears a row for each line, and the terminal has broken lines into more of them. After \r ora draws again.
    if (columns < before && rows > lines.length && breaksAnew(env)) {
      terminal.write(`${csi}${rows - lines.length}A${csi}J\r`);
    }
    spinner.render();
  };
  const close = () => {
    for (const stop of stops) stop();
    if (!spinner.isSpinning) return;
    spinner.stop();
    terminal.write(showCursor);
  };
  terminal.write(hideCursor);
  spinner.start();
  terminal.on('resize', resize);
  const stops = [every(beatMs, draw), onExit(close), () => void terminal.off('resize', resize)];
  return { draw, close };
}
