import { writeFileSync } from 'node:fs';
import { isatty } from 'node:tty';
import { type Clock, systemClock } from '../clock.ts';
import { version } from '../version.ts';
import { capture, launch, run } from './children.ts';
import { exists, inspect, makeFolders, namesInFolder, temporaryFolder } from './paths.ts';
import { every, onExit, onStop, type SignalListener } from './process-events.ts';
import { runGroup } from './process-group.ts';
import { ask, askSecret } from './prompt.ts';
import { pipesReadOnce, readParts, silenceMs, streamFile, streamStdin } from './read-file.ts';
import { type Sink, streamSink } from './sink.ts';
import { openStateFile } from './state-file.ts';
import { appendToFile, checkWritable, createSecretFile, removeFile, writeWholeFile } from './write-file.ts';

/** The facts of a process. */
interface ProcessFacts {
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
  /** The effective user id of this process; null on systems without user ids. */
  readonly uid: number | null;
  /** The command that starts this program: Node and the script, or only the binary. */
  readonly program: readonly string[];
  /** The version of this program, and of the binary that contains it. */
  readonly version: string;
  /** Without a `v`. */
  readonly nodeVersion: string;
  readonly clock: Clock;
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
const silence = `warning: nothing has arrived on standard input for ${silenceMs / 1000} s; rungate waits for the end of the input
  → pipe the input into rungate, or give a file: < file
`;
const stdin = (): AsyncIterable<Uint8Array> => streamStdin(() => void err.write(silence));

function workingDirectory(): string {
  try {
    return process.cwd();
  } catch {
    return '';
  }
}

const system = {
  /** A number from 0 up to 1. */
  random: Math.random,
  /** Reads all of standard input, or its first `mostBytes`. */
  readStdin: (mostBytes?: number) => readParts(stdin(), mostBytes),
  /** Yields standard input as it arrives, in parts of any size. Each part is valid until the next one is requested. */
  streamStdin: stdin,
  readFile: pipesReadOnce(),
  exists,
  inspect,
  namesInFolder,
  streamFile,
  /** Creates a folder that only its owner may enter, with its missing parents. */
  makeFolder: (path: string) => makeFolders(path, 0o700),
  /** Writes a new file that only its owner may read. @throws `EEXIST` if the path exists */
  writeNewFile: (path: string, bytes: Uint8Array) => writeFileSync(path, bytes, { flag: 'wx', mode: 0o600 }),
  writeFile: writeWholeFile,
  checkWritable,
  removeFile,
  appendFile: appendToFile,
  createSecretFile,
  ask,
  askSecret,
  stateFile: openStateFile,
  onStop: (stop: SignalListener, outlives?: boolean) =>
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

/** Everything outside the process that a command may use. Tests pass their own. */
export type Io = ProcessFacts & Readonly<typeof system>;

/** The real system. */
export const systemIo: Io = {
  ...system,
  out,
  err,
  env: process.env,
  cwd: workingDirectory(),
  platform: process.platform,
  uid: process.geteuid?.() ?? null,
  program: [process.execPath, process.argv[1] ?? ''],
  version,
  nodeVersion: process.versions.node,
  clock: systemClock,
};
