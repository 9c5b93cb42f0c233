import { writeFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type Clock, systemClock } from '../clock.ts';
import { version } from '../version.ts';
import { type ChildResult, capture, launch, run } from './children.ts';
import {
  exists,
  inspect,
  makeFolders,
  namesInFolder,
  type PathFacts,
  type TemporaryFolder,
  temporaryFolder,
} from './paths.ts';
import { every, onExit, onStop, type SignalListener } from './process-events.ts';
import { type GroupOptions, type GroupResult, runGroup } from './process-group.ts';
import { ask, askSecret } from './prompt.ts';
import { pipesReadOnce, readParts, silenceMs, streamFile, streamStdin } from './read-file.ts';
import { type Sink, streamSink } from './sink.ts';
import { openStateFile, type StateFile } from './state-file.ts';
import {
  appendToFile,
  checkWritable,
  createSecretFile,
  removeFile,
  type SecretFile,
  writeWholeFile,
} from './write-file.ts';

/** Everything outside the process that a command may use. Tests pass their own. */
export interface Io {
  readonly out: Sink;
  readonly err: Sink;
  /** Whether people read standard output in the log of a job, as in the action. */
  readonly isLog?: boolean;
  /** The file for the runs that this process starts, which the action's post step reads; default: one of the job. */
  readonly journal?: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The working directory; empty if it was deleted. */
  readonly cwd: string;
  /** Node's name for the operating system. */
  readonly platform: string;
  /** The command that starts this program: Node and the script, or only the binary. */
  readonly program: readonly string[];
  /** The version of this program, and of the binary that contains it. */
  readonly version: string;
  /** Without a `v`. */
  readonly nodeVersion: string;
  readonly clock: Clock;
  /** A number from 0 up to 1. */
  random(): number;
  /** Reads all of standard input, or its first `mostBytes`. */
  readStdin(mostBytes?: number): Promise<Uint8Array>;
  /** Yields standard input as it arrives, in parts of any size. Each part is valid until the next one is requested. */
  streamStdin(): AsyncIterable<Uint8Array>;
  /**
   * Reads a file, or a pipe or a device to its end, or up to `mostBytes`.
   * @throws a file system error, `ETIMEDOUT` for a pipe that stays silent, `EFBIG` for a pipe or a device of more than 64 MiB
   */
  readFile(path: string, mostBytes?: number): Uint8Array;
  /** Returns whether the path exists; a dangling link does. */
  exists(path: string): boolean;
  /** The effective user id of this process; null on systems without user ids. */
  readonly uid: number | null;
  /** Returns the type and the owners of a path. @throws a file system error */
  inspect(path: string): PathFacts;
  /** Returns the sorted names in a folder, or null for any other path. @throws a file system error */
  namesInFolder(path: string): readonly string[] | null;
  /** Yields a file in parts, in constant memory, as `streamStdin` does. File system errors are thrown while it is read. */
  streamFile(path: string): AsyncIterable<Uint8Array>;
  /** Creates a folder that only its owner may enter, with its missing parents. */
  makeFolder(path: string): void;
  /** Writes a new file that only its owner may read. @throws `EEXIST` if the path exists */
  writeNewFile(path: string, bytes: Uint8Array): void;
  /** Writes a file or replaces it, or a link to it, in one step, and creates its missing parent folders. */
  writeFile(path: string, text: string): void;
  /** Checks that `writeFile` can write, and changes nothing. @throws a file system error */
  checkWritable(path: string): void;
  /** Removes a file, or a link to it, if it exists. @throws a file system error */
  removeFile(path: string): void;
  /** Appends the text that `textAfter` returns for the content; the content is empty unless this is a readable regular file. */
  appendFile(path: string, textAfter: (content: Uint8Array) => string): void;
  /** Creates a file that only its owner may read, for a later secret. @throws a file system error; `EEXIST` if the path exists */
  createSecretFile(path: string): SecretFile;
  /** Prompts for a line. Returns null without a terminal, undefined if the input ends. @throws StoppedError on Ctrl-C */
  ask(question: string): Promise<string | null | undefined>;
  /** Prompts for a secret without echoing it. Returns null without a terminal, '' if the input ends. @throws StoppedError on Ctrl-C */
  askSecret(question: string): Promise<string | null>;
  /** Returns a file of rungate's that several processes may change at once. */
  stateFile(path: string): StateFile;
  /**
   * Calls back on SIGINT, SIGTERM, SIGHUP and when the parent process is gone; a second signal ends the process at once.
   * @param outlives whether only a package runner's end and, with a terminal, SIGHUP stop the command
   */
  onStop(stop: SignalListener, outlives?: boolean): () => void;
  /** Calls back at this interval until the returned function is called. It does not keep the process alive. */
  every(ms: number, callback: () => void): () => void;
  /** Calls back when the process ends, also by a second signal or a bug; only synchronous work is possible then. */
  onExit(callback: () => void): () => void;
  /** Returns the output of a quick command, or null if it failed (then `onFailure` gets its stderr) or took more than 2 s. */
  capture(command: readonly string[], onFailure?: (stderr: string) => void): string | null;
  /** Runs a command with this process's own streams, and passes stop signals on to it. */
  run(command: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<ChildResult>;
  /** Starts a program that may outlive this process. Returns false if it cannot be started or fails within 2 s. */
  launch(command: readonly string[], env: Readonly<Record<string, string | undefined>>): Promise<boolean>;
  /** Runs a command without input, in its own process group, and ends the whole group before it returns. */
  runGroup(command: readonly string[], options: GroupOptions): Promise<GroupResult>;
  temporaryFolder(): TemporaryFolder;
}

/** How long the reader of the output may read nothing. */
const patienceMs = 10_000;
// A person at a terminal may stop reading in a pager, and can press Ctrl-C.
const out = streamSink(process.stdout, { isResult: true, patienceMs: isatty(0) ? 0 : patienceMs });
const err = streamSink(process.stderr, { isResult: false, patienceMs });

/** Ends the process once its output is read, or now, if nothing else is worth waiting for. Unread output would keep it alive. */
export async function leave(code: number, now = false): Promise<void> {
  process.exitCode = code;
  if (now) process.exit();
  const delivered = await Promise.all([out.flushed(), err.flushed()]);
  if (delivered.includes(false)) process.exit();
}

/** Otherwise a program that left the pipe open would see only that nothing happens. */
const silence = `warning: nothing has arrived on standard input for ${silenceMs / 1000} s; rungate waits for its end
  → pipe the input into rungate, or give a file: < file
`;
const stdin = () => streamStdin(() => void err.write(silence));

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}

/** The real system. */
export const systemIo: Io = {
  out,
  err,
  env: process.env,
  cwd: workingDirectory(),
  platform: process.platform,
  program: [process.execPath, process.argv[1] ?? ''],
  version,
  nodeVersion: process.versions.node,
  clock: systemClock,
  random: Math.random,
  readStdin: (mostBytes) => readParts(stdin(), mostBytes),
  streamStdin: stdin,
  readFile: pipesReadOnce(),
  exists,
  uid: process.geteuid?.() ?? null,
  inspect,
  namesInFolder,
  streamFile,
  makeFolder: (path) => makeFolders(path, 0o700),
  writeNewFile: (path, bytes) => writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 }),
  writeFile: writeWholeFile,
  checkWritable,
  removeFile,
  appendFile: appendToFile,
  createSecretFile,
  ask,
  askSecret,
  stateFile: openStateFile,
  onStop: (stop, outlives) =>
    onStop((signal, orphaned) => {
      for (const sink of [out, err]) sink.hurry();
      stop(signal, orphaned);
    }, outlives),
  every,
  onExit,
  capture,
  run,
  launch,
  runGroup,
  temporaryFolder,
};
