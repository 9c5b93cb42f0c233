import { stripVTControlCharacters } from 'node:util';
import ora, { spinners } from 'ora';
import type { Io } from '../../host/io.ts';
import type { Terminal } from '../../host/sink.ts';
import { columnsOf } from '../text.ts';
import type { LiveStyle, View } from './model.ts';

/** How often the view is checked for changes. */
const refreshMs = 100;

const csi = '\u001b[';
const hideCursor = `${csi}?25l`;
const showCursor = `${csi}?25h`;
/** Makes the terminal cut off a line that is wider than computed, instead of wrapping it. */
const noWrap = `${csi}?7l`;
const wrap = `${csi}?7h`;

/** Returns the size of the terminal. Sets it if the terminal reports 0, by which ora would divide. */
function sizeOf(terminal: Terminal) {
  terminal.columns ||= 80;
  terminal.rows ||= 24;
  return { columns: terminal.columns, rows: terminal.rows };
}

/** Whether the terminal rewraps its lines when it becomes narrower; a few cut them off instead. */
function rewrapsLines({ TERM = '', TMUX, XTERM_VERSION }: Io['env']): boolean {
  if (TMUX !== undefined && TMUX !== '') return true;
  return XTERM_VERSION === undefined && !/^(linux|screen|rxvt|st\b|st-|xterm-direct)/.test(TERM);
}

/** Shows a view at the bottom of a terminal, with ora's spinner before its first line. Other output appears above it. */
export function openSpinner(
  terminal: Terminal,
  { every, onExit, env }: Pick<Io, 'every' | 'onExit' | 'env'>,
  { paint, symbols }: Pick<LiveStyle, 'paint' | 'symbols'>,
  view: View,
) {
  // The cursor rests below the view: not every terminal rewraps the line of the cursor.
  const text = () => `${noWrap}${view(sizeOf(terminal)).join('\n')}\n${wrap}`;
  const { frames, interval } = symbols ? spinners.dots : spinners.line;
  const spinner = ora({
    text: text(),
    stream: terminal,
    isEnabled: true,
    color: false,
    spinner: { frames: frames.map((frame) => paint('busy', frame)), interval },
    // With either of these, ora would install its own signal handlers.
    discardStdin: false,
    hideCursor: false,
  });
  /** Draws changes now instead of at the next refresh. */
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
    // ora clears one row per line, but the rewrapped lines take more rows. After \r, ora draws again.
    if (columns < before && rows > lines.length && rewrapsLines(env)) {
      terminal.write(`${csi}${rows - lines.length}A${csi}J\r`);
    }
    spinner.render();
  };
  /** Removes the view and restores the terminal. */
  const close = () => {
    for (const stop of stops) stop();
    if (!spinner.isSpinning) return;
    spinner.stop();
    terminal.write(showCursor);
  };
  terminal.write(hideCursor);
  spinner.start();
  terminal.on('resize', resize);
  const stops = [every(refreshMs, draw), onExit(close), () => void terminal.off('resize', resize)];
  return { draw, close };
}
