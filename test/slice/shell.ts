import type { StopSignal } from '../../src/errors.ts';
import type { Io } from '../../src/host/io.ts';
import type { StateFile } from '../../src/host/state-file.ts';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { memoryIo } from '../cli/harness.ts';
import { main } from '../cli/main.ts';
import { isResponseDue } from '../requests-under-way.ts';
import { turns } from '../until.ts';
import { type VirtualTime, virtualTime } from '../virtual-time.ts';

/** The end of a command in a shell. */
export interface Called {
  /** Null if the shell stopped the command. */
  code: number | null;
  out: string;
  err?: string;
}

/** When the shell stops a command: after so many milliseconds, or at a moment of its work. */
export type Moment =
  | number
  /** The service has created the run, and its response has not arrived. */
  | 'created'
  /** The gate has ended, and nothing of its result is printed. */
  | 'before the result'
  /** The result is printed, and the command has not exited. */
  | 'after the result';

export interface Stop {
  /** Which call, from 1; default: each at a time, and the first at another moment. */
  call?: number;
  at: Moment;
  by: 'SIGKILL' | 'SIGTERM';
}

export interface ShellOptions {
  mock: MockOptions;
  gates?: unknown;
  /** Whether the folder for rungate's state cannot be written. */
  readOnly?: boolean;
  stops: readonly Stop[];
}

export interface Shell {
  readonly mock: MockServer;
  readonly time: VirtualTime;
  /** The environment of the next commands. */
  readonly env: Record<string, string>;
  /** The files of the work tree. */
  readonly files: Record<string, string>;
  /** The folder of the next commands. */
  cwd: string;
  /** The disk with rungate's state. */
  readonly disk: Disk;
  call(command: readonly string[]): Promise<Called>;
  close(): Promise<void>;
}

/** The time that an agent needs between two commands, in milliseconds. */
export const betweenMs = 1000;
/** A gate of an hour has fewer. Without a limit, one that never ends would hold the loop until the test times out. */
const mostCalls = 100;
const never = () => new Promise<never>(() => {});

interface Disk {
  readOnly: boolean;
  /** The texts of the files by path. */
  readonly files: Map<string, string>;
}

/** A state file in memory: most of the time on a disk is for making sure of its changes. */
const memoryFile = (disk: Disk, path: string): StateFile => ({
  read() {
    const text = disk.files.get(path);
    return text === undefined ? null : { text, exposed: false };
  },
  async change({ parse, write }, edit) {
    if (disk.readOnly) throw Object.assign(new Error('EROFS'), { code: 'EROFS' });
    const text = disk.files.get(path);
    disk.files.set(path, write(edit(text === undefined ? ({} as never) : parse(text))));
  },
});

/** On a busy machine, a request over a real socket takes many turns. */
async function settled(): Promise<void> {
  await turns(60);
  // One that hangs ends by its own limit, which is virtual, too.
  for (const end = Date.now() + 2_000; isResponseDue() && Date.now() < end; ) await turns(20);
}

/** A process: once it is killed, it reads no file and prints nothing, and no time passes for it. */
function startProcess(argv: readonly string[], io: Io, stopIt: () => void) {
  const death = new AbortController();
  let dead = false;
  let sleeping = 0;
  let printed = '';
  let ended: { code: number } | { error: unknown } | undefined;
  const alive = async <T>(work: () => Promise<T>): Promise<T> => {
    if (dead) return never();
    const result = await work().finally(() => (dead ? never() : undefined));
    return dead ? never() : result;
  };
  const bornAt = io.clock.monotonic();
  const moments = { begins: (_text: string) => {}, printed: (_text: string) => {} };
  const own: Io = {
    ...io,
    clock: {
      now: io.clock.now,
      // Each process has its own zero.
      monotonic: () => io.clock.monotonic() - bornAt,
      sleep: (ms, signal) =>
        alive(async () => {
          const signals = [death.signal, ...(signal === undefined ? [] : [signal])];
          sleeping += 1;
          try {
            await io.clock.sleep(ms, AbortSignal.any(signals));
          } finally {
            sleeping -= 1;
          }
        }),
    },
    out: {
      ...io.out,
      write: (text) =>
        alive(async () => {
          moments.begins(text);
          if (dead) return;
          printed += text;
          moments.printed(text);
        }),
    },
    err: { ...io.err, write: (text) => alive(() => io.err.write(text)) },
    stateFile(path) {
      const file = io.stateFile(path);
      return { ...file, change: (...given) => alive(() => file.change(...given)) };
    },
  };
  main(argv, own).then(
    (code) => {
      if (!dead) ended = { code };
    },
    (error: unknown) => {
      if (!dead) ended = { error };
    },
  );
  return {
    moments,
    get ended() {
      return ended;
    },
    get printed() {
      return printed;
    },
    get sleeping() {
      return sleeping > 0;
    },
    get dead() {
      return dead;
    },
    stop(by: Stop['by']) {
      if (by === 'SIGTERM') return stopIt();
      dead = true;
      death.abort();
    },
  };
}

const isResult = (text: string) => text.startsWith('{') && JSON.parse(text).exitCode !== 75;

/** Starts a mock, and a shell that runs commands in this process, on one virtual clock and over real sockets. */
export async function openShell({ mock: options, gates, readOnly, stops }: ShellOptions): Promise<Shell> {
  const time = virtualTime();
  const { clock } = time;
  const mock = await startMock({ clock, ...options });
  const disk: Disk = { readOnly: readOnly === true, files: new Map() };
  const stateFile = (path: string) => memoryFile(disk, path);
  const env: Record<string, string> = {
    RUNGATE_API_URL: mock.url,
    RUNGATE_API_KEY: mock.apiKey,
    HOME: '/home/agent',
  };
  const files: Record<string, string> = { '/repo/.git': '' };
  if (gates !== undefined) files['/repo/.rungate.json'] = JSON.stringify({ project: 'shop', gates });
  const over = new Set<Stop>();
  let calls = 0;

  async function call([program, ...argv]: readonly string[]): Promise<Called> {
    if (program !== 'rungate') throw new Error(`the program is ${program}`);
    calls += 1;
    if (calls > mostCalls) throw new Error(`the gate goes on after ${mostCalls} commands`);
    const number = calls;
    const startedAt = clock.monotonic();
    const due = stops.filter((stop) => (stop.call ?? number) === number && !over.has(stop));
    let signal: (by: StopSignal) => void = () => {};
    const onStop = (stop: typeof signal) => {
      signal = stop;
    };
    const { io, printed: all } = memoryIo({ clock, env: { ...env }, cwd: shell.cwd, files, onStop });
    const process = startProcess(argv, { ...io, stateFile }, () => signal('SIGTERM'));
    const errors = () => all().err;
    const runsBefore = mock.state.runs.size;
    let stopped = false;
    const stopIf = (holds: (at: Moment) => boolean) => {
      for (const stop of due) {
        if (!holds(stop.at) || over.has(stop) || process.ended !== undefined) continue;
        if (typeof stop.at !== 'number') over.add(stop);
        stopped = true;
        process.stop(stop.by);
      }
    };
    process.moments.begins = (text) => isResult(text) && stopIf((at) => at === 'before the result');
    process.moments.printed = (text) => isResult(text) && stopIf((at) => at === 'after the result');
    const limits = due.flatMap(({ at }) => (typeof at === 'number' ? at : []));
    const isOver = (at: Moment) => typeof at === 'number' && clock.monotonic() - startedAt >= at;
    while (process.ended === undefined && !process.dead) {
      await settled();
      if (mock.state.runs.size > runsBefore) stopIf((at) => at === 'created');
      // Without a sleep, the process works or loads a module: no time passes.
      if (process.dead || !process.sleeping) continue;
      const ahead = limits.map((at) => startedAt + at - clock.monotonic()).filter((ms) => ms > 0);
      await time.run(Math.min(time.untilNext(), ...ahead));
      stopIf(isOver);
    }
    const { ended, printed } = process;
    if (ended !== undefined && 'error' in ended) throw ended.error;
    await time.run(betweenMs);
    return { code: stopped || ended === undefined ? null : ended.code, out: printed, err: errors() };
  }

  const shell: Shell = { mock, time, env, files, cwd: '/repo', disk, call, close: () => mock.close() };
  return shell;
}
