import { afterEach } from 'vitest';
import { systemClock } from '../../../src/clock.ts';
import type { StopSignal } from '../../../src/errors.ts';
import { defaultHeaderNames } from '../../../src/webhook/headers.ts';
import { signSync } from '../../../src/webhook/node.ts';
import { memoryIo, type Result, type Settings } from '../../cli/harness.ts';
import { main } from '../../cli/main.ts';
import { until } from '../../until.ts';

export const secret = 'whook-Secret-0123456789';
export const token = 'token-of-the-gates-0123456789';
export const env = { RUNGATE_WEBHOOK_SECRET: secret, RUNGATE_HUB_TOKEN: token };

const cleanups: (() => unknown)[] = [];
/** Stops the hubs that still run. */
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

export interface Running {
  url: string;
  out(): string;
  err(): string;
  /** The events in the log, as JSON. */
  events(): Record<string, unknown>[];
  stop(signal?: StopSignal): Promise<Result>;
}

/** Runs the hub in this process, on a free port, until it is stopped or the test ends. */
export async function hub(
  argv: readonly string[] = ['--format', 'ndjson'],
  settings: Settings = {},
): Promise<Running> {
  let stop: (signal: StopSignal) => void = () => {};
  const { io, printed } = memoryIo({
    clock: systemClock,
    ...settings,
    env: { ...env, ...settings.env },
    onStop: (given) => {
      stop = given;
    },
  });
  const ended = main(['hub', '--port', '0', ...argv], io);
  const url = () => /listening.*?(http:[\w./:[\]]+)/.exec(printed().out)?.[1];
  await Promise.race([
    until(url),
    ended.then((code) => Promise.reject(new Error(`ended with ${code}: ${printed().err}`))),
  ]);
  const stopped = async (signal: StopSignal = 'SIGTERM') => {
    stop(signal);
    return { code: await ended, ...printed() };
  };
  cleanups.push(stopped);
  return {
    url: url() ?? '',
    out: () => printed().out,
    err: () => printed().err,
    events: () =>
      printed()
        .out.split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line)),
    stop: stopped,
  };
}

export function signedHeaders(body: string, key = secret): Record<string, string> {
  const { timestamp, signature } = signSync({ body, secret: key });
  return { [defaultHeaderNames.timestamp]: timestamp, [defaultHeaderNames.signature]: signature };
}

export async function deliver(url: string, body: string, headers = signedHeaders(body)): Promise<number> {
  return (await fetch(`${url}/deliveries`, { method: 'POST', body, headers })).status;
}

export const ask = (url: string, path: string, json: unknown, given = token) =>
  fetch(url + path, {
    method: 'POST',
    body: JSON.stringify(json),
    headers: { Authorization: `Bearer ${given}` },
  });

/** Opens a stream, and returns the text that arrives. */
export async function stream(
  url: string,
  runs: readonly string[],
): Promise<{ text(): string; ended: Promise<void> }> {
  const response = await ask(url, '/v1/wakes', { version: 1, runs });
  let text = '';
  const decoder = new TextDecoder();
  const ended = (async () => {
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true });
  })();
  await until(() => text.includes('event: ready'));
  return { text: () => text, ended };
}
