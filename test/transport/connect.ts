import { onTestFinished } from 'vitest';
import {
  type CallerInput,
  type CallerOptions,
  type CallOptions,
  createCaller,
} from '../../src/client/caller.ts';
import type { ExchangeEvent } from '../../src/client/options.ts';
import { api, type EndpointName } from '../../src/contract/index.ts';
import { nameInCommands } from '../../src/options/spelling.ts';
import { fakeClock } from '../fake-clock.ts';

export const secrets = { apiKey: 'key-hunter22', token: 'token-hunter22' };

/** Creates a caller on a fake clock that records its sleeps and events. It is closed after the test. */
export function connect(apiUrl: string, options: Partial<CallerOptions> = {}) {
  const clock = fakeClock(Date.UTC(2026, 0, 1));
  const events: ExchangeEvent[] = [];
  const onExchange = (event: ExchangeEvent) => events.push(event);
  const caller = createCaller(
    { apiUrl, ...secrets, clock, random: () => 0.5, onExchange, ...options },
    nameInCommands,
  );
  onTestFinished(() => caller.close());
  const exchange = (name: EndpointName, input: Partial<CallerInput> = {}, callOptions?: CallOptions) =>
    caller.exchange(name, api[name], { params: {}, ...input }, callOptions);
  return { caller, clock, events, exchange };
}

export const status = (exchange: ReturnType<typeof connect>['exchange'], options?: CallOptions) =>
  exchange('run.status', { params: { runId: 'run_1' } }, options);

export const trigger = (exchange: ReturnType<typeof connect>['exchange'], options?: CallOptions) =>
  exchange('run.trigger', { body: { projectSlug: 'shop', processSlug: 'checkout' } }, options);

export const running = { state: 'in_progress', appUrl: 'https://app.example/run_1' };
