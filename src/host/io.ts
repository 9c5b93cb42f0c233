import { writeFileSync } from 'node:fs';
import { type Clock, systemClock } from '../clock.ts';
import type { StopSignal } from '../errors.ts';
import { type ChildResult, capture, launch, run } from './children.ts';
import {
  exists,
  inspect,
  makeFolders,
  type PathFacts,
  type TemporaryFolder,
  temporaryFolder,
} from './paths.ts';
import { every, onExit, onStop } from './process-events.ts';
import type { GroupOptions, GroupResult } from './process-group.ts';
import { ask, askSecret } from './prompt.ts';
import { pipesReadOnce, readStdin, streamFile, streamStdin } from './read-file.ts';
import { type Sink, streamSink } from './sink.ts';
import { openStateFile, type StateFile } from './state-file.ts';
import { appendToFile, createSecretFile, type SecretFile, writeWholeFile } from './write-file.ts';

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
  /** Standard input as it comes, in parts of any size; each holds until the next is asked for. */
  streamStdin(): AsyncIterable<Uint8Array>;
  /** A file, or a pipe or a device to its end. @throws what the file system says, `ETIMEDOUT` for a pipe that gives nothing, `EFBIG` for what does not end */
  readFile(path: string): Uint8Array;
  /** Whether there is a file, a folder, or a link, wherever that leads. */
  exists(path: string): boolean;
  /** The id of the user that this process acts as; null on systems without such ids. */
  readonly uid: number | null;
  /** What a path is and whose. @throws what the file system says */
  inspect(path: string): PathFacts;
  /** The same of a file, in constant memory. What the file system says is thrown while it is read. */
  streamFile(path: string): AsyncIterable<Uint8Array>;
  /** Makes a folder that its owner alone may enter, and those above it, where they are not there. */
  makeFolder(path: string): void;
  /** Writes a new file that its owner alone may read. @throws `EEXIST` when something is there */
  writeNewFile(path: string, bytes: Uint8Array): void;
  /** Writes a file in one step, in place of what is there, with the folders above it. */
  writeFile(path: string, text: string): void;
  /** Appends what `textAfter` returns for the content, which is empty if the file cannot be read or is not a regular file. */
  appendFile(path: string, textAfter: (content: Uint8Array) => string): void;
  /** Prepares a new file that its owner alone may read. @throws when it cannot be there, `EEXIST` when it is */
  createSecretFile(path: string): SecretFile;
  /** Asks a person for a line; null where nobody can be asked, undefined if the input ends. @throws StoppedError on Ctrl-C */
  ask(question: string): Promise<string | null | undefined>;
  /** Asks a person for a secret, which is not shown; null where nobody types, empty if the input ends. @throws StoppedError on Ctrl-C */
  askSecret(question: string): Promise<string | null>;
  /** A file of ours that several processes may change at once. */
  stateFile(path: string): StateFile;
  /** Calls back for SIGINT, SIGTERM, SIGHUP and for a lost parent; a second one ends the process at once. */
  onStop(stop: (signal: StopSignal) => void): () => void;
  /** Calls back time and again until the returned function is called. It keeps no process alive. */
  every(ms: number, beat: () => void): () => void;
  /** Calls back when the process ends, a second signal and a bug included: there is time for one write. */
  onExit(last: () => void): () => void;
  /** What a quick command prints, or null when it failed or took more than 2 s. */
  capture(command: readonly string[]): string | null;
  /** Runs a command with this process's own streams; stop signals are passed on to it. */
  run(command: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<ChildResult>;
  /** Starts a program that may outlive this process. Returns false if it cannot be started or fails within 2 s. */
  launch(command: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<boolean>;
  /** Runs a command without input, in a process group of its own, of which nothing is left when it returns. */
  runGroup(command: readonly string[], options: GroupOptions): Promise<GroupResult>;
  temporaryFolder(): TemporaryFolder;
}

/** The world as it is. */
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
  readFile: pipesReadOnce(),
  exists,
  uid: process.geteuid?.() ?? null,
  inspect,
  streamFile,
  makeFolder: (path) => makeFolders(path, 0o700),
  writeNewFile: (path, bytes) => writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 }),
  writeFile: (path, text) => writeWholeFile(path, text),
  appendFile: appendToFile,
  createSecretFile,
  ask,
  askSecret,
  stateFile: openStateFile,
  onStop,
  every,
  onExit,
  capture,
  run,
  launch,
  runGroup: async (command, options) => (await import('./process-group.ts')).runGroup(command, options),
  temporaryFolder,
};
