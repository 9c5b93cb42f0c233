import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Stage, stage } from '../../cli/harness.ts';

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

it('for a path without /api, the hint says that paths begin with it', async () => {
  const { code, err } = await on.rungate('api', 'GET', '/environments');
  expect(code).toBe(5);
  expect(err).toContain('→ paths of the service begin with /api');
  expect(err).not.toContain('check the id');
});

it.each([
  ['webhooks test wh_1', 'rungate webhooks list'],
  ['webhooks deliveries get wh_1 dlv_1', 'rungate webhooks deliveries list wh_1'],
  ['observations get shop obs_1', 'rungate observations list shop'],
  ['orders get ord_1', 'rungate orders list'],
])('for an unknown id, the hint names the command that lists the ids: %s', async (line, list) => {
  const { code, err } = await on.rungate(...line.split(' '));
  expect(code).toBe(5);
  expect(err).toMatch(new RegExp(`^ +→ check the id; .*; ${list} shows the ids$`, 'm'));
});
