import type { Clock } from '../../src/clock.ts';
import type { StopSignal } from '../../src/errors.ts';
import { type Io, systemIo } from '../../src/host/io.ts';
import type { GroupOptions, GroupResult } from '../../src/host/process-group.ts';
import type { Sink } from '../../src/host/sink.ts';
import { openStateFile } from '../../src/host/state-file.ts';
import { createSecretFile } from '../../src/host/write-file.ts';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { version } from '../../src/version.ts';
import { type FakeClock, fakeClock } from '../fake-clock.ts';
import { main } from './main.ts';

export interface Result {
  code: number;
  out: string;
  err: string;
}

interface MemorySink extends Sink {
  text: string;
}

function memorySink(isTTY: boolean, open = true): MemorySink {
  return {
    text: '',
    isTTY,
    columns: isTTY ? 80 : undefined,
    open,
    failure: null,
    async write(text) {
      if (open) this.text += text;
    },
  };
}

export interface Settings {
  env?: Record<string, string | undefined>;
  clock?: Clock;
  random?: () => number;
  isTTY?: boolean;
  /** Whether people read standard output in the log of a job. */
  isLog?: boolean;
  /** The journal that the post step of the action reads. */
  journal?: string;
  stdin?: string | Uint8Array;
  /** Whether the reader of stdout has closed the pipe. */
  closed?: boolean;
  /** Without it, nothing is called back. */
  every?: Io['every'];
  /** Returns the output of a captured command. */
  captured?: Io['capture'];
  /** The answer to every prompt, or a function of the question; undefined is Ctrl-D. Without it, there is no terminal. */
  answer?: string | ((question: string) => string | undefined);
  cwd?: string;
  /** The files by path; files that the command writes are added. */
  files?: Record<string, string | Uint8Array>;
  /** The id of the user who runs the command. */
  uid?: number | null;
  /** The user ids of the owners by path; other paths belong to the user. */
  owners?: Record<string, readonly number[]>;
  /** The paths of the files that other users may read. */
  exposed?: readonly string[];
  /** By default, the package on the PATH. */
  program?: Io['program'];
  /** The paths that cannot be removed. */
  unremovable?: readonly string[];
  /** The paths that cannot be written when the command ends. */
  unwritable?: readonly string[];
  /** The paths that are read-only from the start. */
  readOnly?: readonly string[];
  /** Creates a secret file; by default a real one. */
  createSecretFile?: Io['createSecretFile'];
  /** Starts a program such as a browser; returns false if it cannot be started. */
  launch?: Io['launch'];
  /** Runs a command in its own process group; omitted fields of the result mean success. */
  group?: (command: readonly string[], options: GroupOptions) => Promise<Partial<GroupResult>>;
  /** Receives the function that stops the command, once the command listens for signals. */
  onStop?: (stop: (signal: StopSignal) => void) => void;
  /** SIGTERM stops the command after the first sleep at whose end this holds. */
  stopsWhen?: () => boolean;
}

const bytesOf = (content: string | Uint8Array) =>
  typeof content === 'string' ? new TextEncoder().encode(content) : content;

/** Yields parts that end anywhere, even within a character. Each part is overwritten before the next one. */
async function* inParts(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  const size = bytes.length > 10_000 ? 4093 : 7;
  for (let at = 0; at < bytes.length; at += size) {
    const part = new Uint8Array(bytes.subarray(at, at + size));
    yield part;
    part.fill(0xee);
  }
}

/** Creates an Io in memory that records the output. */
export function memoryIo(settings: Settings = {}): { io: Io; printed(): { out: string; err: string } } {
  const out = memorySink(settings.isTTY ?? false, settings.closed !== true);
  const err = memorySink(settings.isTTY ?? false);
  const files = settings.files ?? {};
  const writeFile = (path: string, text: string) => {
    if (settings.unwritable?.includes(path)) {
      throw Object.assign(new Error(`EACCES: ${path}`), { code: 'EACCES' });
    }
    files[path] = text;
  };
  const readFile = (path: string) => {
    const content = files[path];
    if (Object.keys(files).some((name) => name.startsWith(`${path}/`)))
      throw Object.assign(new Error(`EISDIR: ${path}`), { code: 'EISDIR' });
    if (content === undefined) throw Object.assign(new Error(`ENOENT: ${path}`), { code: 'ENOENT' });
    return bytesOf(content);
  };
  const clock = settings.clock ?? fakeClock();
  let stopCommand: (signal: StopSignal) => void = () => {};
  const io: Io = {
    out,
    err,
    isLog: settings.isLog ?? false,
    ...(settings.journal !== undefined && { journal: settings.journal }),
    env: settings.env ?? {},
    cwd: settings.cwd ?? '/nowhere',
    platform: 'linux',
    program: settings.program ?? ['node', '/usr/bin/rungate'],
    version,
    nodeVersion: process.versions.node,
    clock: {
      ...clock,
      async sleep(ms, signal) {
        await clock.sleep(ms, signal);
        if (settings.stopsWhen?.() === true) stopCommand('SIGTERM');
        signal?.throwIfAborted();
      },
    },
    random: settings.random ?? (() => 0.5),
    readStdin: async () => bytesOf(settings.stdin ?? ''),
    streamStdin: () => inParts(bytesOf(settings.stdin ?? '')),
    readFile,
    exists: (path) => files[path] !== undefined,
    uid: settings.uid === undefined ? 1000 : settings.uid,
    inspect(path) {
      if (path !== settings.cwd) readFile(path);
      return {
        owners: settings.owners?.[path] ?? [settings.uid ?? 1000],
        isFile: files[path] !== undefined,
        exposed: settings.exposed?.includes(path) === true,
      };
    },
    namesInFolder(path) {
      const start = `${path.replace(/\/$/, '')}/`;
      const inside = Object.keys(files).filter((name) => name.startsWith(start));
      const names = inside.map((name) => name.slice(start.length).replace(/\/.*$/s, ''));
      return names.length === 0 ? null : [...new Set(names)].toSorted();
    },
    async *streamFile(path) {
      yield* inParts(readFile(path));
    },
    makeFolder: systemIo.makeFolder,
    writeNewFile: systemIo.writeNewFile,
    writeFile,
    checkWritable(path) {
      if (settings.readOnly?.includes(path))
        throw Object.assign(new Error(`EROFS: ${path}`), { code: 'EROFS' });
    },
    removeFile(path) {
      if (settings.unremovable?.includes(path))
        throw Object.assign(new Error(`EACCES: ${path}`), { code: 'EACCES' });
      delete files[path];
    },
    appendFile(path, textAfter) {
      const content = bytesOf(files[path] ?? '');
      writeFile(path, new TextDecoder().decode(content) + textAfter(content));
    },
    createSecretFile: settings.createSecretFile ?? createSecretFile,
    ask: async (question) =>
      typeof settings.answer === 'function' ? settings.answer(question) : (settings.answer ?? null),
    askSecret: async () => null,
    stateFile: openStateFile,
    onStop(stop) {
      stopCommand = stop;
      settings.onStop?.(stop);
      return () => {};
    },
    every: settings.every ?? (() => () => {}),
    onExit: () => () => {},
    capture: (command, onFailure) => settings.captured?.(command, onFailure) ?? null,
    run: async () => ({ code: 0, signal: null }),
    launch: async (command, env) => (await settings.launch?.(command, env)) ?? false,
    runGroup: async (command, options) => ({
      code: 0,
      signal: null,
      stopped: false,
      leftBehind: false,
      ...(await settings.group?.(command, options)),
    }),
    temporaryFolder: systemIo.temporaryFolder,
  };
  return { io, printed: () => ({ out: out.text, err: err.text }) };
}

/** Runs `main(argv, io)` in this process and returns what it did. */
export async function cli(argv: readonly string[], settings: Settings = {}): Promise<Result> {
  const { io, printed } = memoryIo(settings);
  const code = await main(argv, io);
  return { code, ...printed() };
}

export interface Stage {
  mock: MockServer;
  clock: FakeClock;
  env: Record<string, string>;
  /** Runs a command with the mock's settings, on the mock's clock. */
  rungate(...argv: string[]): Promise<Result>;
  /** Like `rungate`, with more settings. */
  with(settings: Settings): (...argv: string[]) => Promise<Result>;
  close(): Promise<void>;
}

/** Starts a mock, and runs commands against it over a real socket, on one fake clock. */
export async function stage(options: MockOptions = {}): Promise<Stage> {
  const clock = fakeClock();
  const mock = await startMock({ clock, ...options });
  const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
  const using =
    (settings: Settings) =>
    (...argv: string[]) =>
      cli(argv, { clock, ...settings, env: { ...env, ...settings.env } });
  return { mock, clock, env, rungate: using({}), with: using, close: () => mock.close() };
}

export const trigger = ['run', 'trigger', '--project', 'shop', '--process', 'checkout'] as const;

/** Returns the settings of a command in a repository with a project file. */
export const inRepository = (project: object, env: Settings['env'] = {}) => ({
  ...{ cwd: '/repo', env },
  files: { '/repo/.git': '', '/repo/.rungate.json': JSON.stringify(project) } as Record<string, string>,
});

/** Returns the endpoints of the requests that the mock received, in order. */
export function asked(mock: MockServer): (string | null)[] {
  return mock.requests.map((request) => request.endpoint);
}
