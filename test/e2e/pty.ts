import { type IPty, spawn } from '@lydell/node-pty';
import { type TestScreen, testScreen } from '../screen.ts';
import { bin, root } from './built.ts';

export interface Terminal {
  pty: IPty;
  screen: TestScreen;
  /** The screen after each complete update, in order. */
  frames: string[][];
  /** Everything that the terminal has received. */
  raw(): string;
  /** Resolves once a frame shows the pattern. */
  shows(pattern: RegExp): Promise<void>;
  resize(columns: number, rows: number): Promise<void>;
  ended: Promise<number>;
}

/** The end of a synchronised update, at which a terminal shows it. */
const updateEnd = /(?<=\u001b\[\?2026l)/;

/** Runs the built command in a pseudo-terminal and records the screen after each update. */
export function inTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { columns = 80, rows = 24, file = process.execPath, first = [bin] as readonly string[], cwd = root } = {},
): Terminal {
  const { CI: _ci, NO_COLOR: _no, FORCE_COLOR: _force, ...outer } = process.env;
  const pty = spawn(file, [...first, ...args], {
    cols: columns,
    rows,
    cwd,
    name: 'xterm-256color',
    env: { ...outer, TERM: 'xterm-256color', TERM_PROGRAM: '', TMUX: '', VTE_VERSION: '', ...env },
  });
  const screen = testScreen(columns, rows);
  const frames: string[][] = [];
  const watchers = new Set<() => void>();
  let raw = '';
  // A synchronised update is shown when it is complete, as in a terminal.
  let pending = '';
  let queue = Promise.resolve();
  const show = async (text: string) => {
    await screen.write(text);
    frames.push(screen.lines());
    for (const watcher of watchers) watcher();
  };
  pty.onData((data) => {
    raw += data;
    const parts = (pending + data).split(updateEnd);
    pending = parts.at(-1)?.includes('\u001b[?2026h') ? (parts.pop() ?? '') : '';
    for (const part of parts) queue = queue.then(() => show(part));
  });
  const ended = new Promise<number>((resolve) => {
    pty.onExit(({ exitCode }) => {
      // The last bytes may arrive after the exit event.
      setTimeout(() => {
        queue = queue.then(() => show(pending));
        void queue.then(() => resolve(exitCode));
      }, 50);
    });
  });
  return {
    pty,
    screen,
    frames,
    raw: () => raw,
    shows: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          if (!pattern.test(frames.at(-1)?.join('\n') ?? '')) return;
          watchers.delete(check);
          resolve();
        };
        watchers.add(check);
        check();
        void ended.then(() => reject(new Error(`ended without ${pattern}: ${screen.lines().join('\n')}`)));
      }),
    async resize(cols, height) {
      await queue;
      screen.resize(cols, height);
      pty.resize(cols, height);
    },
    ended,
  };
}
