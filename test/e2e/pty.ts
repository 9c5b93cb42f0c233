import { type IPty, spawn } from '@lydell/node-pty';
import { onTestFinished } from 'vitest';
import { type TestScreen, testScreen } from '../screen.ts';
import { program, root } from './built.ts';

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
  /** Sends a signal to the command. */
  kill(signal: NodeJS.Signals): void;
  ended: Promise<number>;
}

/** The end of a synchronised update, at which a terminal shows it. */
const updateEnd = /(?<=\u001b\[\?2026l)/;

/** A shell that outlives the command: what a terminal shows last may be lost when its last process ends. */
const outlive = String.raw`trap : HUP INT TERM; "$@"; printf '\033_exit %d\033' $?; read -r _`;
const exit = /\u001b_exit (\d+)\u001b$/;
const isWindows = process.platform === 'win32';

/** Runs the built command in a pseudo-terminal and records the screen after each update. */
export function inTerminal(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  { columns = 80, rows = 24, command: before = program as readonly string[], cwd = root } = {},
): Terminal {
  const { CI: _ci, NO_COLOR: _no, FORCE_COLOR: _force, ...outer } = process.env;
  const command = [...before, ...args];
  const [file = '', ...rest] = isWindows ? command : ['sh', '-c', outlive, 'sh', ...command];
  const pty = spawn(file, rest, {
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
  let exitCode = (_code: number) => {};
  const exited = new Promise<number>((resolve) => {
    exitCode = resolve;
  });
  let held = '';
  pty.onData((more) => {
    const text = held + more;
    held = /\u001b(?:_.*)?$/s.exec(text)?.[0] ?? '';
    const code = exit.exec(held)?.[1];
    if (code !== undefined) exitCode(Number(code));
    const data = text.slice(0, text.length - held.length);
    raw += data;
    const parts = (pending + data).split(updateEnd);
    pending = parts.at(-1)?.includes('\u001b[?2026h') ? (parts.pop() ?? '') : '';
    for (const part of parts) queue = queue.then(() => show(part));
  });
  pty.onExit((exit) => exitCode(exit.exitCode));
  const end = () => {
    if (!isWindows) pty.kill('SIGKILL');
  };
  onTestFinished(end);
  const ended = exited.then(async (code) => {
    end();
    queue = queue.then(() => show(pending));
    await queue;
    return code;
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
    kill: (signal) => void process.kill(isWindows ? pty.pid : -pty.pid, signal),
    ended,
  };
}
