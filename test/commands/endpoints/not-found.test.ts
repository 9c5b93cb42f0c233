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
    expect(err).toContain(`→ rungate env vars list ${items[0].key} shows the ids of the variables`);
  },
);
