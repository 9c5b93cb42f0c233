import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import {
  appendFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Clock, systemClock } from '../clock.ts';
import type { StopSignal } from '../errors.ts';
import { askHidden } from './hidden-prompt.ts';
import { lineageChanged, readLineage } from './lineage.ts';
import { createSecretFile, type SecretFile } from './secret-file.ts';
import { type Sink, streamSink } from './sink.ts';
import { openStateFile, type StateFile } from './state-file.ts';
import { writeWholeFile } from './whole-file.ts';

export type { Sink } from './sink.ts';

export interface ChildResult {
  code: number | null;
  signal: NodeJS.Signals | null;
}

export interface GroupOptions {
  env: Readonly<Record<string, string | undefined>>;
  /** The command and all that it has started are stopped after this many milliseconds. */
  limitMs: number;
  /** Stops them at once. */
  signal: AbortSignal;
  /** What they print, standard output and standard error as they come. */
  onOutput(bytes: Uint8Array): void;
}

export interface GroupResult extends ChildResult {
  /** It did not end by itself, within the limit and before the signal. */
  stopped: boolean;
  /** Processes that it had started were still there when it had ended; they have been stopped. */
  leftBehind: boolean;
}

/** A folder for this process alone, gone at the latest when the process ends. */
export interface TemporaryFolder {
  readonly path: string;
  /** Writes a file below it, with the folders above it, and returns its path. */
  write(name: string, text: string, mode?: number): string;
  /** False when something in it could not be removed. */
  remove(): boolean;
}

/** Everything a command may touch of the world. Tests pass their own. */
export interface Io {
  readonly out: Sink;
  readonly err: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** The operating system, by Node's name for it. */
  readonly platform: string;
  /** The command that starts this program. */
  readonly program: readonly string[];
  readonly clock: Clock;
  /** A number from 0 up to 1. */
  random(): number;
  /** Standard input, whole, as bytes. */
  readStdin(): Promise<Uint8Array>;
  /** Standard input as it comes, in parts of any size. */
  streamStdin(): AsyncIterable<Uint8Array>;
  readFile(path: string): Uint8Array;
  /** Whether there is a file or a folder. */
  isThere(path: string): boolean;
  /** A file in parts, in constant memory. What the file system says is thrown while it is read. */
  streamFile(path: string): AsyncIterable<Uint8Array>;
  /** Makes a folder that its owner alone may enter, and those above it, where they are not there. */
  makeFolder(path: string): void;
  /** Writes a new file that its owner alone may read. @throws `EEXIST` when something is there */
  writeNewFile(path: string, bytes: Uint8Array): void;
  /** Writes a file in one step, in place of what is there, with the folders above it. */
  writeFile(path: string, text: string): void;
  appendFile(path: string, text: string): void;
  /** Prepares a new file that its owner alone may read. @throws when it cannot be there, `EEXIST` when it is */
  createSecretFile(path: string): SecretFile;
  /** Asks a person for a line; null where nobody can be asked. */
  ask(question: string): Promise<string | null>;
  /** Asks a person for a secret, which is not shown; null where nobody types. @throws StoppedError on Ctrl-C */
  askSecret(question: string): Promise<string | null>;
  /** A file of ours that several processes may change at once. */
  stateFile(path: string): StateFile;
  /** Calls back for SIGINT, SIGTERM, SIGHUP and for a lost parent; a second one ends the process at once. */
  onStop(stop: (signal: StopSignal) => void): () => void;
  /** What a quick command prints, or null when it failed or took more than 2 s. */
  capture(command: readonly string[]): string | null;
  /** Runs a command with this process's own streams; stop signals are passed on to it. */
  run(command: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<ChildResult>;
  /** Runs a command without input, in a process group of its own, of which nothing is left when it returns. */
  runGroup(command: readonly string[], options: GroupOptions): Promise<GroupResult>;
  temporaryFolder(): TemporaryFolder;
}

/** How often the parent process is looked at: well within the 5 s that a stop may take. */
const lineageInterval = 400;

const stopSignals: readonly StopSignal[] = ['SIGINT', 'SIGTERM', 'SIGHUP'];
const signalNumbers = { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 } as const;

function onStop(stop: (signal: StopSignal) => void): () => void {
  let stopping = false;
  const once = (signal: StopSignal) => {
    if (stopping) process.exit(128 + signalNumbers[signal]);
    stopping = true;
    stop(signal);
  };
  for (const signal of stopSignals) process.on(signal, once);
  // npx and npm do not pass SIGTERM on: they end, we are given to another parent and would run on.
  const lineage = readLineage(process.ppid);
  const watch = setInterval(() => {
    if (!stopping && lineageChanged(lineage, readLineage(process.ppid))) once('SIGTERM');
  }, lineageInterval);
  watch.unref();
  return () => {
    clearInterval(watch);
    for (const signal of stopSignals) process.off(signal, once);
  };
}

/** Four times Node's own: a large file is read at the rate of its disk, and the memory is still next to nothing. */
const highWaterMark = 256 * 1024;

function streamStdin(): AsyncIterable<Uint8Array> {
  return createReadStream('', { fd: 0, autoClose: false, highWaterMark });
}

async function readStdin(): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of streamStdin()) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function ask(question: string): Promise<string | null> {
  if (!process.stdin.isTTY || !process.stderr.isTTY) return null;
  const { createInterface } = await import('node:readline/promises');
  const prompt = createInterface({ input: process.stdin, output: process.stderr });
  const interrupted = new AbortController();
  prompt.once('SIGINT', () => interrupted.abort());
  prompt.once('close', () => interrupted.abort());
  try {
    return await prompt.question(question, { signal: interrupted.signal });
  } catch {
    // Ctrl-C or Ctrl-D is an answer: none.
    process.stderr.write('\n');
    return '';
  } finally {
    prompt.close();
  }
}

function capture([file = '', ...args]: readonly string[]): string | null {
  const { status, stdout } = spawnSync(file, args, { timeout: 2000, stdio: ['ignore', 'pipe', 'ignore'] });
  return status === 0 ? stdout.toString() : null;
}

function run(
  command: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<ChildResult> {
  const [file = '', ...args] = command;
  return new Promise((resolve, reject) => {
    const child = spawn(file, args, { stdio: 'inherit', env, shell: process.platform === 'win32' });
    const pass = (signal: NodeJS.Signals) => child.kill(signal);
    for (const signal of stopSignals) process.on(signal, pass);
    const done = () => {
      for (const signal of stopSignals) process.off(signal, pass);
    };
    child.once('error', (error) => {
      done();
      reject(error);
    });
    child.once('close', (code, signal) => {
      done();
      resolve({ code, signal });
    });
  });
}

const windows = process.platform === 'win32';
/** How long what a command has started may still take when it has ended: a `tee` that writes its last lines. */
const settleMs = 300;
/** How long what was asked to stop may take to do so. */
const stopMs = 2_000;

/** False when nobody is there to get the signal; 0 only asks. */
function signalGroup(child: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  // Windows has no groups: there the command alone is stopped.
  if (windows || child.pid === undefined) return child.exitCode === null && child.kill(signal);
  try {
    return process.kill(-child.pid, signal);
  } catch {
    return false;
  }
}

/** A process that has ended, and whose new parent does not care, as in a container: it is nobody to wait for. */
function onlyZombies(group: number): boolean {
  try {
    const stats = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((pid) => readIfThere(`/proc/${pid}/stat`));
    // `pid (name) state ppid pgrp …`; the name may hold anything.
    const members = stats
      .map((stat) => /^.*\) (\S) \d+ (\d+) /s.exec(stat))
      .filter((found) => found !== null);
    return members.every(([, state, pgrp]) => Number(pgrp) !== group || state === 'Z' || state === 'X');
  } catch {
    // Not Linux.
    return false;
  }
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Whether nothing is left of the group, now or within that time. */
async function groupEnds(child: ChildProcess, withinMs: number): Promise<boolean> {
  const gone = () =>
    !signalGroup(child, 0) || (!windows && child.pid !== undefined && onlyZombies(child.pid));
  for (const until = performance.now() + withinMs; !gone(); await systemClock.sleep(25)) {
    if (performance.now() >= until) return false;
  }
  return true;
}

async function stopGroup(child: ChildProcess): Promise<void> {
  signalGroup(child, 'SIGTERM');
  if (await groupEnds(child, stopMs)) return;
  signalGroup(child, 'SIGKILL');
  await groupEnds(child, settleMs);
}

async function runGroup(command: readonly string[], options: GroupOptions): Promise<GroupResult> {
  const { env, limitMs, signal, onOutput } = options;
  const [file = '', ...args] = command;
  const child = spawn(file, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env,
    detached: !windows,
    shell: windows,
  });
  child.stdout.on('data', onOutput);
  child.stderr.on('data', onOutput);
  const ended = new Promise<ChildResult>((resolve, reject) => {
    child.once('error', reject);
    child.once('exit', (code, by) => resolve({ code, signal: by }));
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const killAll = () => void signalGroup(child, 'SIGKILL');
  process.on('exit', killAll);
  const over = new AbortController();
  const timeUp = systemClock.sleep(limitMs, AbortSignal.any([over.signal, signal])).then(
    () => null,
    () => null,
  );
  try {
    const result = await Promise.race([ended, timeUp]);
    const stopped = result === null;
    const leftBehind = !stopped && !(await groupEnds(child, settleMs));
    if (stopped || leftBehind) await stopGroup(child);
    // What has left the group (setsid) may hold the streams open for ever.
    await Promise.race([closed, systemClock.sleep(settleMs, over.signal)]);
    return { ...(result ?? (await ended)), stopped, leftBehind };
  } finally {
    over.abort();
    process.off('exit', killAll);
    child.stdout.destroy();
    child.stderr.destroy();
  }
}

function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'rungate-'));
  const remove = () => {
    process.off('exit', remove);
    try {
      rmSync(path, { recursive: true, force: true, maxRetries: 3 });
      return true;
    } catch {
      return false;
    }
  };
  process.on('exit', remove);
  return {
    path,
    remove,
    write(name, text, mode = 0o600) {
      const file = join(path, name);
      mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
      writeFileSync(file, text, { mode });
      return file;
    },
  };
}

export const systemIo: Io = {
  out: streamSink(process.stdout),
  err: streamSink(process.stderr),
  env: process.env,
  cwd: process.cwd(),
  platform: process.platform,
  program: [process.execPath, process.argv[1] ?? ''],
  clock: systemClock,
  random: Math.random,
  readStdin,
  streamStdin,
  readFile: (path) => readFileSync(path),
  isThere: existsSync,
  streamFile: (path) => createReadStream(path, { highWaterMark }),
  makeFolder: (path) => void mkdirSync(path, { recursive: true, mode: 0o700 }),
  writeNewFile: (path, bytes) => writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 }),
  writeFile: writeWholeFile,
  appendFile: (path, text) => appendFileSync(path, text),
  createSecretFile,
  ask,
  askSecret: async (question) =>
    process.stdin.isTTY ? askHidden(process.stdin, process.stderr, question) : null,
  stateFile: openStateFile,
  onStop,
  capture,
  run,
  runGroup,
  temporaryFolder,
};
