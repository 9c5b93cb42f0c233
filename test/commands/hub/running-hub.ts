import { systemClock } from '../../../src/clock.ts';
import { defaultHeaderNames } from '../../../src/webhook/headers.ts';
import { signSync } from '../../../src/webhook/node.ts';
import type { Settings } from '../../cli/harness.ts';
import { until } from '../../until.ts';
import { startListening } from '../listening.ts';

export const secret = 'whook-Secret-0123456789';
export const token = 'token-of-the-gates-0123456789';
export const env = { RUNGATE_WEBHOOK_SECRET: secret, RUNGATE_HUB_TOKEN: token };

/** Runs the hub until it is stopped or the test ends. */
export async function hub(argv: readonly string[] = ['--format', 'ndjson'], settings: Settings = {}) {
  const on = await startListening(['hub', ...argv], {
    clock: systemClock,
    ...settings,
    env: { ...env, ...settings.env },
  });
  /** Returns the events in the log, as JSON. */
  const events = (): Record<string, unknown>[] =>
    on
      .out()
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  return { ...on, events };
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
