import { afterEach, beforeEach, expect, it } from 'vitest';
import { runMain, type Toolkit } from '../src/action.ts';
import { memoryIo } from './cli/harness.ts';
import { type HubStage, hubStage, hubToken } from './cli/hub-stage.ts';

let on: HubStage;
beforeEach(async () => {
  on = await hubStage({ duration: 60_000, retryAfterSeconds: 300 });
});
afterEach(() => on.close());

it('the action gives its gate the hub of its inputs, and masks the token', async () => {
  const hub = await on.hub();
  const inputs: Record<string, string> = {
    'api-key': on.mock.apiKey,
    'api-url': on.mock.url,
    project: 'shop',
    process: 'checkout',
    'hub-url': hub.url,
    'hub-token': hubToken,
  };
  const masked: string[] = [];
  const toolkit: Toolkit = {
    getInput: (name) => inputs[name] ?? '',
    getState: () => '',
    saveState: () => {},
    setSecret: (secret) => masked.push(secret),
  };
  const env = { RUNGATE_HUB_URL: 'http://127.0.0.1:1', RUNGATE_HUB_TOKEN_FILE: '/unused' };
  const { io, printed } = memoryIo({ clock: on.time.clock, env });
  let code: number | null = null;
  const ended = runMain(toolkit, io).then((one) => {
    code = one;
  });
  await on.settle(() => printed().err.includes('in_progress'));
  await on.pass(61_000);
  const runId = /created run: (\S+)/.exec(printed().err)?.[1];
  await hub.deliver({ runId });
  await on.settle(() => code !== null);
  await ended;
  expect(code).toBe(0);
  expect(printed().err).toContain('woken by a webhook');
  expect(masked).toEqual([on.mock.apiKey, hubToken]);
});
