import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { previewName } from '../../../src/preview/mark.ts';
import { asked, type Stage, stage } from '../../cli/harness.ts';
import { json, serve } from '../../transport/serve.ts';

const hour = 3_600_000;

let on: Stage;
beforeEach(async () => {
  on = await stage();
});
afterEach(() => on.close());

const environments = () => on.mock.state.account.environments;
/** Adds an environment, and returns its id. */
async function add(key: string, name: string): Promise<string> {
  const line = `env create --key ${key} --base-url https://shop-42.example/?key=hidden --json --name`;
  const { out } = await on.rungate(...line.split(' '), name);
  return JSON.parse(out).id;
}
const aged = (hours: number) => previewName(on.clock.now() - hours * hour, 'shop-42.example');
const prune = (...argv: string[]) => on.rungate('env', 'prune', ...argv);

it('deletes only environments whose key and name are of the form that a gate gives, and that are old enough', async () => {
  const left = await add('rg-0123456789ab', aged(25));
  await add('rg-1123456789ab', aged(23));
  await add('rg-2123456789ab', 'made by hand');
  await add('staging-2', aged(48));
  await add('rg-3123456789AB', aged(48));
  await add('rg-4123456789ab', `${aged(48)} `);
  await add('rg-5123456789ab', 'rungate preview 2025-99-99T00:00:00Z shop');
  const before = [...environments().keys()];
  const { code, out } = await prune('--yes', '--json');
  expect(code).toBe(0);
  expect(JSON.parse(out).environments).toEqual([
    {
      ...{ id: left, key: 'rg-0123456789ab', baseUrl: 'https://shop-42.example', deleted: true, error: null },
      createdAt: new Date(on.clock.now() - 25 * hour).toISOString(),
    },
  ]);
  expect([...environments().keys()]).toEqual(before.filter((id) => id !== left));
});

it('lists what it would delete, and deletes it only after a yes', async () => {
  await add('rg-0123456789ab', aged(3));
  const said: string[] = [];
  const answer = (word: string) => (question: string) => {
    said.push(question);
    return word;
  };
  const no = await on.with({ answer: answer('n') })('env', 'prune', '--older-than', '2h');
  expect(no.code).toBe(1);
  expect(no.err).toMatch(
    /^rg-0123456789ab {2}2026-01-15T09:00:00.000Z {2}https:\/\/shop-42.example\nnothing was done\n$/,
  );
  expect(asked(on.mock)).not.toContain('env.delete');
  const yes = await on.with({ answer: answer('y') })('env', 'prune', '--older-than', '2h');
  expect(yes.out).toContain('rg-0123456789ab\t2026-01-15T09:00:00.000Z\thttps://shop-42.example\tdeleted');
  expect(said[0]).toBe(
    'Delete this environment, which rungate created more than 2 h ago? This cannot be undone. [y/N] ',
  );
  expect(no.err + yes.out + yes.err).not.toContain('hidden');
});

it('needs --yes without a terminal, but not if there is nothing to delete', async () => {
  expect(await prune()).toMatchObject({
    code: 0,
    err: 'rungate created no environment more than 24 h ago\n',
  });
  await add('rg-0123456789ab', aged(25));
  const { code, err } = await prune();
  expect(code).toBe(64);
  expect(err).toContain('add --yes: rungate env prune --yes');
});

it('leaves an environment that was renamed while the person decided', async () => {
  const id = await add('rg-0123456789ab', aged(25));
  const rename = () => {
    const environment = environments().get(id);
    if (environment !== undefined) environment.name = 'kept';
    return 'y';
  };
  expect((await on.with({ answer: rename })('env', 'prune')).code).toBe(0);
  expect(environments().has(id)).toBe(true);
});

it('goes on after one that cannot be deleted, and fails', async () => {
  await add('rg-0123456789ab', aged(26));
  await add('rg-1123456789ab', aged(25));
  on.mock.faults.add({ kind: 'status', status: 409, endpoint: 'env.delete' });
  const { code, out } = await prune('--yes', '--json');
  expect(code).toBe(5);
  expect(JSON.parse(out).environments).toMatchObject([
    { key: 'rg-0123456789ab', deleted: false, error: expect.stringContaining('409') },
    { key: 'rg-1123456789ab', deleted: true, error: null },
  ]);
});

it('reports one as left that a login page seems to delete', async () => {
  await add('rg-0123456789ab', aged(25));
  on.mock.faults.add({ kind: 'html-200', endpoint: 'env.delete' });
  const { code, out } = await prune('--yes', '--json');
  expect([code, environments().size > 0]).toEqual([5, true]);
  expect(JSON.parse(out).environments).toMatchObject([
    { deleted: false, error: 'the response is not JSON, and the list still shows it' },
  ]);
});

it('says that it cannot delete one whose id the service does not list', async () => {
  const item = { key: 'rg-0123456789ab', name: aged(26), baseUrl: 'https://shop-42.example/' };
  on.mock.faults.add({ kind: 'reply', text: JSON.stringify({ items: [item] }), endpoint: 'env.list' });
  const { code, out } = await prune('--yes', '--json');
  expect(code).toBe(5);
  expect(JSON.parse(out).environments).toMatchObject([
    { id: null, deleted: false, error: expect.stringContaining('the service does not list its id') },
  ]);
});

it.each(['1', '86400', ' 2 '])('refuses the age "%s", which has no unit', async (age) => {
  await add('rg-0123456789ab', aged(25));
  const { code, err } = await prune('--older-than', age, '--yes');
  expect([code, err]).toEqual([64, expect.stringMatching(/--older-than: "\d+" has no unit\n {2}→ .*\dd/)]);
  expect(asked(on.mock)).not.toContain('env.list');
});

describe('if the clocks differ', () => {
  /** Runs prune on a machine whose clock is ahead by some minutes. */
  const pruneAhead = (minutes: number) => {
    const now = () => on.clock.now() + minutes * 60_000;
    return on.with({ clock: { ...on.clock, now } })('env', 'prune', '--yes', '--json');
  };

  it.each([
    [6, '6 min ahead of'],
    [3 * 24 * 60, '72 h ahead of'],
    [-6, '6 min behind'],
  ])('by %i minutes, it names that and deletes nothing, with --yes too', async (minutes, by) => {
    await add('rg-0123456789ab', aged(26));
    const { code, err } = await pruneAhead(minutes);
    expect(code).toBe(78);
    expect(JSON.parse(err).error.message).toContain(`this machine's clock is ${by} the service's clock`);
    expect(asked(on.mock)).not.toContain('env.delete');
  });

  it.each([4, -4])('by %i minutes, it deletes what is old by both', async (minutes) => {
    const old = await add('rg-0123456789ab', aged(24 + 5 / 60));
    await add('rg-1123456789ab', aged(24 - 3 / 60));
    await add('rg-2123456789ab', aged(24 + 3 / 60));
    const { out } = await pruneAhead(minutes);
    const deleted = JSON.parse(out).environments.map(({ key }: { key: string }) => key);
    expect(deleted).toEqual(minutes > 0 ? ['rg-0123456789ab', 'rg-2123456789ab'] : ['rg-0123456789ab']);
    expect(environments().has(old)).toBe(false);
  });

  it('is not asked if gates have left nothing', async () => {
    expect((await pruneAhead(600)).code).toBe(0);
  });
});

it('deletes nothing if the service does not say the time', async () => {
  const item = { id: 'env_1', key: 'rg-0123456789ab', name: aged(26), baseUrl: 'https://shop-42.example/' };
  const { url } = await serve(({ response }) => {
    response.sendDate = false;
    json(response, 200, { items: [item] });
  });
  const settings = { env: { RUNGATE_API_URL: url } };
  const { code, err } = await on.with(settings)('env', 'prune', '--yes');
  expect([code, err]).toEqual([78, expect.stringContaining('responses have no valid Date')]);
});
