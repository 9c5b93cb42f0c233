import { AsyncLocalStorage } from 'node:async_hooks';
import { Agent, type Dispatcher } from 'undici';
import type { StopSignal } from '../../src/errors.ts';
import type { Io } from '../../src/host/io.ts';
import type { Sink } from '../../src/host/sink.ts';
import type { StateFile } from '../../src/host/state-file.ts';
import { memoryIo, type Settings } from '../cli/harness.ts';
import { main } from '../cli/main.ts';
import type { ModelRequest, ModelResponse, Service } from './service.ts';

export const epoch = Date.UTC(2026, 0, 15, 12);
/** The machine's stale time of a lock, as in `openStateFile`. */
const staleMs = 3_000;
/** A process that waits so long without an event waits for ever. */
const mostIdleTurns = 10_000;

/**
 * The moment at which a process is killed: at one of its steps (a request, a response, a part of a write), at a time, when its
 * first POST has arrived, or before it prints its result.
 */
export type Kill = { step: number } | { afterMs: number } | { at: Moment };
type Moment = 'POST' | 'print';

/** A response that the service decides on at a later time. */
export interface Later {
  at: number;
  respond(): ModelResponse;
  /** Whether the connection breaks at once. */
  broken?: boolean;
}

export interface Backend {
  latency: Service['latency'];
  handle(request: ModelRequest, now: number): ModelResponse | Later;
}

export interface Launch {
  argv: readonly string[];
  /** Instead of `main` with the arguments. */
  run?: (io: Io, id: string) => Promise<number>;
  /** Called after each step that the process survives, and when it is killed, before anything else happens. */
  onStep?: () => void;
  onKill?: () => void;
  kill?: Kill | null;
  signal?: { afterMs: number; name: StopSignal } | null | undefined;
  /** Returns how far the wall clock is wrong, in milliseconds. */
  skewMs?: () => number;
  settings?: Settings;
}

export interface Ended {
  /** Null if the process was killed. */
  code: number | null;
  out: string;
  err: string;
  startedAt: number;
  endedAt: number;
  id: string;
  /** The text of the file about gates that go on, at its end. */
  state: string | null;
}

interface Process {
  id: string;
  dead: boolean;
  /** The number of its waits. A process that waits for nothing is still working. */
  waits: number;
  steps: number;
  kill: Kill | null;
  inFlight: Set<() => void>;
  onStep: Launch['onStep'];
  onKill: Launch['onKill'];
  end(ended: Pick<Ended, 'code'>): void;
}

interface Event {
  at: number;
  act(): void;
}

export interface Machine {
  now(): number;
  files: Record<string, string | Uint8Array>;
  /** The text of the file about gates that go on. */
  state(): string | null;
  /** Deletes or replaces what is stored about gates that go on. */
  loseState(): void;
  store(text: string): void;
  launch(options: Launch): Promise<Ended>;
  /** Calls back after this time. */
  later(ms: number, act: () => void): void;
  pause(ms: number): Promise<void>;
  /** Lets time pass until the work is done. */
  during<T>(work: Promise<T>): Promise<T>;
}

/** Counts the processes of all machines: the timeout of a request may wake a process that was killed on an earlier one. */
let launched = 0;
/** Which process sends a request. One for all machines, since each one that was used makes every later promise slower. */
const sender = new AsyncLocalStorage<Process>();
/** One promise for all would keep everything of each process that waits for it. */
const never = () => new Promise<never>(() => {});

/**
 * A machine whose processes run in this process, on virtual time and against a service in memory.
 * @param unwritable returns why its disk cannot be written at a time, as the code of an error, or null
 */
export function machine(
  service: Backend,
  {
    env = {},
    unwritable = () => null,
  }: { env?: Record<string, string>; unwritable?: (now: number) => string | null } = {},
): Machine {
  let time = 0;
  let events: Event[] = [];
  const processes = new Map<string, Process>();
  const files: Machine['files'] = {};
  const disk: { text: string | null; lock: Process | null } = { text: null, lock: null };
  const at = (when: number, act: () => void) => {
    const event = { at: when, act };
    events.push(event);
    return () => {
      events = events.filter((other) => other !== event);
    };
  };

  const kill = (process: Process) => {
    if (process.dead) return;
    process.dead = true;
    process.onKill?.();
    // Ends the timers of its requests.
    for (const abandon of process.inFlight) abandon();
    process.end({ code: null });
  };
  /** Returns whether the process is alive after its next step. */
  const step = (process: Process, moment?: string): boolean => {
    if (process.dead) return false;
    process.steps += 1;
    const { kill: fate, steps } = process;
    if (fate !== null && (('step' in fate && fate.step === steps) || ('at' in fate && fate.at === moment)))
      kill(process);
    if (!process.dead) process.onStep?.();
    return !process.dead;
  };
  const sleep = (process: Process, ms: number, signal?: AbortSignal): Promise<void> => {
    if (process.dead) return never();
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    return new Promise((resolve, reject) => {
      process.waits += 1;
      const stop = () => {
        process.waits -= 1;
        forget();
        if (!process.dead) reject(signal?.reason);
      };
      const forget = at(time + Math.max(0, ms), () => {
        process.waits -= 1;
        signal?.removeEventListener('abort', stop);
        if (!process.dead) resolve();
      });
      signal?.addEventListener('abort', stop, { once: true });
    });
  };

  const stateFile = (process: Process): StateFile => ({
    read() {
      return disk.text === null ? null : { text: disk.text, exposed: false };
    },
    async change(format, edit) {
      if (!step(process)) return never();
      const code = unwritable(time);
      if (code !== null) throw Object.assign(new Error(code), { code });
      let [holder, since] = [disk.lock, time];
      while (disk.lock !== null) {
        if (disk.lock !== holder) [holder, since] = [disk.lock, time];
        if (time - since > staleMs) break;
        await sleep(process, 10);
      }
      disk.lock = process;
      if (!step(process)) return never();
      await sleep(process, 5);
      const text = format.write(edit(disk.text === null ? ({} as never) : format.parse(disk.text)));
      if (!step(process)) return never();
      disk.text = text;
      if (!step(process)) return never();
      disk.lock = null;
    },
  });

  const dispatch = (options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): boolean => {
    const headers = options.headers as Record<string, string>;
    const process = sender.getStore();
    if (process === undefined || !step(process)) return true;
    let done = false;
    const settle = (deliver: () => void) => {
      if (done) return;
      done = true;
      process.waits -= 1;
      process.inFlight.delete(abandon);
      deliver();
    };
    const controller = {
      abort: () => settle(() => {}),
      pause() {},
      resume() {},
      paused: false,
      aborted: false,
      reason: null,
      rawHeaders: [],
      rawTrailers: [],
    } as unknown as Dispatcher.DispatchController;
    const fail = () => {
      const error = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      handler.onResponseError?.(controller, error);
    };
    const abandon = () => settle(fail);
    process.waits += 1;
    process.inFlight.add(abandon);
    handler.onRequestStart?.(controller, {});
    const body = options.body === null ? '' : Buffer.from(options.body as string).toString();
    const { method, path } = options;
    const request = { origin: String(options.origin), method, path, headers, body, by: process.id };
    const { uploadMs, downloadMs } = service.latency();
    at(time + uploadMs, () => {
      // Bytes that are sent arrive, even if the sender has been killed.
      const arrived = service.handle(request, time);
      if (!done) step(process, method);
      if (arrived === null || !('respond' in arrived)) return respond(arrived);
      at(arrived.at, () => {
        const response = arrived.respond();
        if (arrived.broken !== true) respond(response);
      });
      if (arrived.broken === true) respond(null);
    });
    const respond = (response: ModelResponse) =>
      at(time + downloadMs, () => {
        if (done || !step(process)) return;
        settle(() => {
          if (response === null) return fail();
          handler.onResponseStart?.(controller, response.status, response.headers ?? {}, '');
          const text = typeof response.body === 'string' ? response.body : JSON.stringify(response.body);
          handler.onResponseData?.(controller, Buffer.from(text));
          handler.onResponseEnd?.(controller, {});
        });
      });
    return true;
  };

  const launch = ({
    argv,
    run,
    kill: fate = null,
    signal = null,
    skewMs = () => 0,
    settings = {},
    ...on
  }: Launch) =>
    new Promise<Ended>((resolve, reject) => {
      launched += 1;
      const id = `key-of-process-${launched}`;
      const startedAt = time;
      const [out, err] = [{ text: '' }, { text: '' }];
      let over = false;
      const process: Process = {
        ...{
          id,
          dead: false,
          waits: 0,
          steps: 0,
          kill: fate,
          inFlight: new Set(),
        },
        ...{ onStep: on.onStep, onKill: on.onKill },
        end({ code }) {
          if (over) return;
          over = true;
          process.dead = true;
          processes.delete(id);
          resolve({ code, out: out.text, err: err.text, startedAt, endedAt: time, id, state: disk.text });
        },
      };
      processes.set(id, process);
      const listeners = new Set<(by: StopSignal) => void>();
      const { io } = memoryIo({
        ...{ cwd: '/work', files },
        ...settings,
        env: {
          ...{ RUNGATE_API_URL: 'https://service.test', RUNGATE_API_KEY: 'key-of-user', HOME: '/home/user' },
          ...env,
          ...settings.env,
        },
      });
      const sink = (to: { text: string }, isResult: boolean): Sink => ({
        ...{ isTTY: false, columns: undefined, open: true, failure: null },
        async write(text) {
          if (process.dead || (isResult && !step(process, 'print'))) return never();
          to.text += text;
          if (isResult && !step(process)) return never();
        },
      });
      const whole =
        <Given extends unknown[]>(act: (...given: Given) => void) =>
        (...given: Given) => {
          if (!step(process)) return;
          act(...given);
          step(process);
        };
      const own: Io = {
        ...io,
        out: settings.closed === true ? io.out : sink(out, true),
        err: sink(err, false),
        clock: {
          now: () => epoch + time + skewMs(),
          monotonic: () => 1_000 + time - startedAt,
          sleep: (ms, by) => sleep(process, ms, by),
        },
        stateFile: (path) =>
          path.endsWith('slices.json') ? stateFile(process) : { read: () => null, change: async () => {} },
        writeFile: whole(io.writeFile),
        appendFile: whole(io.appendFile),
        removeFile: whole(io.removeFile),
        onStop(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      };
      if (fate !== null && 'afterMs' in fate) at(time + fate.afterMs, () => kill(process));
      if (signal !== null)
        at(time + signal.afterMs, () => {
          // Without a listener, the signal ends the process.
          if (listeners.size === 0) kill(process);
          for (const listener of listeners) listener(signal.name);
        });
      sender
        .run(process, () => (run === undefined ? main(argv, own) : run(own, id)))
        .then(
          (code) => {
            if (!process.dead) process.end({ code });
          },
          (error: unknown) => {
            if (!process.dead) reject(error);
          },
        );
    });

  const turn = () => new Promise((resolve) => setImmediate(resolve));
  return {
    now: () => time,
    files,
    state: () => disk.text,
    loseState() {
      disk.text = null;
    },
    store(text) {
      disk.text = text;
    },
    launch,
    later: (ms, act) => void at(time + ms, act),
    pause: (ms) => new Promise((resolve) => void at(time + ms, resolve)),
    async during(work) {
      const original = Object.getOwnPropertyDescriptor(Agent.prototype, 'dispatch');
      Object.defineProperty(Agent.prototype, 'dispatch', {
        value: dispatch,
        configurable: true,
        writable: true,
      });
      const real = { setTimeout: globalThis.setTimeout, clearTimeout: globalThis.clearTimeout };
      // The limits of requests are timers. On real time, a busy machine would let them fire earlier than on an idle one.
      const timers = new Map<unknown, () => void>();
      globalThis.setTimeout = ((act: (...given: unknown[]) => void, ms = 0, ...given: unknown[]) => {
        const timer = { ref: () => timer, unref: () => timer };
        const forget = at(time + Math.max(1, ms), () => {
          timers.delete(timer);
          act(...given);
        });
        timers.set(timer, forget);
        return timer;
      }) as never;
      globalThis.clearTimeout = ((timer: unknown) => {
        timers.get(timer)?.();
        timers.delete(timer);
      }) as never;
      let [isDone, idleTurns] = [false, 0];
      const finish = () => {
        isDone = true;
      };
      work.then(finish, finish);
      try {
        while (!isDone) {
          for (let turns = 0; turns < 12; turns += 1) await turn();
          // Modules that are imported for the first time take real time.
          while (!isDone && [...processes.values()].some(({ waits }) => waits <= 0)) await turn();
          if (isDone) break;
          const first = events.reduce<Event | undefined>(
            (least, event) => (least === undefined || event.at < least.at ? event : least),
            undefined,
          );
          if (first === undefined) {
            idleTurns += 1;
            if (idleTurns > mostIdleTurns) throw new Error('a process waits for nothing');
            await turn();
            continue;
          }
          idleTurns = 0;
          events.splice(events.indexOf(first), 1);
          time = Math.max(time, first.at);
          first.act();
        }
        return await work;
      } finally {
        Object.assign(globalThis, real);
        if (original === undefined) Reflect.deleteProperty(Agent.prototype, 'dispatch');
        else Object.defineProperty(Agent.prototype, 'dispatch', original);
      }
    },
  };
}
