import { afterEach, beforeEach, expect, it } from 'vitest';
import { type GatesEvent, gates } from '../../src/index.ts';
import { type HubStage, hubStage, hubToken } from '../cli/hub-stage.ts';

let on: HubStage;
beforeEach(async () => {
  on = await hubStage({ duration: 5000 });
});
afterEach(() => on.close());

const trigger = (processSlug: string) => ({ projectSlug: 'shop', processSlug });
const service = (url: string) => ({
  apiUrl: on.mock.url,
  apiKey: on.mock.apiKey,
  clock: on.time.clock,
  timeoutMs: 3_600_000,
  hub: { url, token: hubToken },
});

const woken = { runs: [{ verdict: 'passed', woken: true }] };

it('a delivery about its run wakes each of several gates, also one that waits for another', async () => {
  const hub = await on.hub();
  const events: GatesEvent[] = [];
  const running = gates({
    ...service(hub.url),
    gates: { api: { trigger: trigger('a') }, web: { trigger: trigger('b'), needs: ['api'] } },
    onProgress: (event) => events.push(event),
  });
  const seen = (type: string) => events.filter((event) => event.type === type).length;
  for (const count of [1, 2]) {
    while (seen('read') < 2 * count - 1) await on.pass(250);
    await on.pass(5000);
    await hub.deliver({ runId: [...on.mock.state.runs.keys()].at(-1) });
    while (seen('gate') < count) await on.pass(250);
  }
  expect(await running).toMatchObject({ result: 'pass', gates: [woken, woken] });
  expect(seen('read')).toBe(4);
});
