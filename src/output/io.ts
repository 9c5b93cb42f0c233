import { spawn } from 'node:child_process';
import { createReadStream, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { type Clock, systemClock } from '../clock.ts';
import type { StopSignal } from '../errors.ts';
import { lineageChanged, readLineage } from './lineage.ts';
import { createSecretFile, type SecretFile } from './secret-file.ts';
import { type Sink, streamSink } from './sink.ts';

export type { Sink } from './sink.ts';

export interface ChildResult {
  code: number | null;
  signal: NodeJS.Signals | null;
}

/** Everything a command may touch of the world. Tests pass their own. */
export interface Io {
  readonly out: Sink;
  readonly err: Sink;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly clock: Clock;
  /** A number from 0 up to 1. */
  random(): number;
  /** Standard input, whole, as bytes. */
  readStdin(): Promise<Uint8Array>;
  /** Standard input as it comes, in parts of any size. */
  streamStdin(): AsyncIterable<Uint8Array>;
  readFile(path: string): Uint8Array;
  /** A file in parts, in constant memory. What the file system says is thrown while it is read. */
  streamFile(path: string): AsyncIterable<Uint8Array>;
  /** Makes a folder that its owner alone may enter, and those above it, where they are not there. */
  makeFolder(path: string): void;
  /** Writes a new file that its owner alone may read. @throws `EEXIST` when something is there */
  writeNewFile(path: string, bytes: Uint8Array): void;
  /** Prepares a new file that its owner alone may read. @throws when it cannot be there, `EEXIST` when it is */
  createSecretFile(path: string): SecretFile;
  /** Asks a person for a line; null where nobody can be asked. */
  ask(question: string): Promise<string | null>;
  /** Calls back for SIGINT, SIGTERM, SIGHUP and for a lost parent; a second one ends the process at once. */
  onStop(stop: (signal: StopSignal) => void): () => void;
  /** Runs a command with this process's own streams; stop signals are passed on to it. */
  run(command: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<ChildResult>;
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

export const systemIo: Io = {
  out: streamSink(process.stdout),
  err: streamSink(process.stderr),
  env: process.env,
  cwd: process.cwd(),
  clock: systemClock,
  random: Math.random,
  readStdin,
  streamStdin,
  readFile: (path) => readFileSync(path),
  streamFile: (path) => createReadStream(path, { highWaterMark }),
  makeFolder: (path) => void mkdirSync(path, { recursive: true, mode: 0o700 }),
  writeNewFile: (path, bytes) => writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 }),
  createSecretFile,
  ask,
  onStop,
  run,
};
