import { onTestFinished } from 'vitest';
import type { StopSignal } from '../../src/errors.ts';
import { memoryIo, type Result, type Settings } from '../cli/harness.ts';
import { main } from '../cli/main.ts';
import { until } from '../until.ts';

export interface Listening {
  url: string;
  out(): string;
  err(): string;
  /** Resolves once stdout has `count` lines. */
  lines(count: number): Promise<string[]>;
  stop(signal?: StopSignal): Promise<Result>;
}

/** Runs a command that listens, in this process and on a free port, until it is stopped or the test ends. */
export async function startListening(
  [group, ...argv]: readonly string[],
  settings: Settings,
): Promise<Listening> {
  let stop: (signal: StopSignal) => void = () => {};
  const onStop = (given: typeof stop) => {
    stop = given;
  };
  const { io, printed } = memoryIo({ ...settings, onStop });
  const ended = main([String(group), ...argv, '--port', '0'], io);
  const url = () => /listening.*?(http:[\w./:[\]]+)/.exec(printed().out + printed().err)?.[1];
  await Promise.race([
    until(url),
    ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${printed().err}`))),
  ]);
  const stopped = async (signal: StopSignal = 'SIGTERM') => {
    stop(signal);
    return { code: await ended, ...printed() };
  };
  onTestFinished(async () => void (await stopped()));
  return {
    url: url() ?? '',
    out: () => printed().out,
    err: () => printed().err,
    async lines(count) {
      const all = () => printed().out.split('\n').slice(0, -1);
      await until(() => all().length >= count);
      return all();
    },
    stop: stopped,
  };
}
