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
  ['update', 'FEATURE_FLAGS', '--field', 'value=1'],
  ['delete', 'FEATURE_FLAGS', '--yes'],
])(
  'for an unknown variable, the hint names the command that lists them: env vars %s',
  async (action, ...rest) => {
    const { items } = JSON.parse((await on.rungate('env', 'list', '--json')).out);
    const { code, err } = await on.rungate('env', 'vars', action, items[0].key, ...rest);
    expect(code).toBe(5);
    expect(err).toContain(`rungate env vars list ${items[0].key} shows the ids\n`);
  },
);

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

it.each([
  [
    409,
    'observations archive shop obs_1',
    'observations.archive',
    'rungate observations get shop obs_1 shows its state',
  ],
  [
    409,
    'observations get shop ;ls',
    'observations.get',
    'rungate observations get shop <observationId> shows its state',
  ],
  [422, 'env create --name new', 'env.create', 'see rungate env create --help'],
] as const)(
  'after a refusal with %i, the hint names a command that shows more: %s',
  async (status, line, endpoint, hint) => {
    on.mock.faults.add({ kind: 'status', status, endpoint });
    expect((await on.rungate(...line.split(' '))).err).toContain(`→ ${hint}\n`);
  },
);
