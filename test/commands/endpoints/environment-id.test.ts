import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { cli, type Stage, stage } from '../../cli/harness.ts';
import { json, type Scene, serve } from '../../transport/serve.ts';

describe('the environment argument', () => {
  let on: Stage;
  let id: string;
  beforeEach(async () => {
    on = await stage();
    const { out } = await on.rungate('env', 'list', '--all', '--json');
    const items = out.trimEnd().split('\n');
    id = items.map((line) => JSON.parse(line)).find(({ key }) => key === 'staging').id;
  });
  afterEach(() => on.close());

  const last = () => on.mock.requests.at(-1);

  it('can be a key in every command for variables', async () => {
    const line = 'env vars create staging --field name=A --field value=b --json';
    const made = await on.rungate(...line.split(' '));
    const variable = JSON.parse(made.out).id;
    expect(last()?.path).toBe(`/api/environments/${id}/variables`);
    expect((await on.rungate('env', 'vars', 'list', 'staging', '--json')).out).toContain(variable);
    const update = ['env', 'vars', 'update', 'staging', variable, '--field', 'value=c'];
    expect((await on.rungate(...update)).code).toBe(0);
    expect((await on.rungate('env', 'vars', 'delete', 'staging', variable, '--yes')).code).toBe(0);
    expect(last()).toMatchObject({ method: 'DELETE', path: `/api/environments/${id}/variables/${variable}` });
  });

  it('leads to the error of the service and the nearest key if it matches no environment', async () => {
    const { code, err } = await on.rungate('env', 'update', 'stagign', '--version', '1');
    expect(code).toBe(5);
    expect(err).toContain('no environment has that id or key: did you mean staging?');
  });
});

/** Runs `env update <given> --version 1` against a service with this list. */
async function update(given: string, list: (scene: Scene) => void, status = 200) {
  const { url, seen } = await serve((scene) => {
    if (scene.seen.method === 'GET') return list(scene);
    return json(scene.response, status, status === 200 ? {} : { error: 'no such environment' });
  });
  const env = { RUNGATE_API_URL: url, RUNGATE_TOKEN: 'token-hunter22' };
  const result = await cli(['env', 'update', given, '--version', '1'], { env });
  return { ...result, puts: seen.filter(({ method }) => method === 'PUT').map((one) => one.url), seen };
}

const text =
  (body: string) =>
  ({ response }: Scene) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(body);
  };

const paged =
  (...pages: object[][]) =>
  (scene: Scene) => {
    const page = Number(new URL(scene.seen.url, 'http://x').searchParams.get('page'));
    json(scene.response, 200, { items: pages[page - 1] ?? [], page, totalPages: pages.length });
  };

const a = { id: 'e1', key: 'a', name: 'A' };
const b = { id: 'e2', key: 'b' };
const c = { id: 'e3', key: 'c' };

describe('the key of an environment', () => {
  it('is looked up on every page', async () => {
    expect((await update('c', paged([a, b], [c]))).puts).toEqual(['/api/environments/e3']);
  });

  it('is compared only after the ids of every page', async () => {
    const withId = { id: 'a', key: 'other' };
    expect((await update('a', paged([a, b], [withId]))).puts).toEqual(['/api/environments/a']);
  });

  it.each([
    ['an id', '{"items":[{"id":"e1","id":"e2","key":"a"}]}'],
    ['the list', '{"a":[{"id":"e1","key":"a"}],"a":[{"id":"e2","key":"a"}]}'],
  ])('is not looked up in a list that has %s twice', async (_what, list) => {
    expect((await update('a', text(list))).puts).toEqual(['/api/environments/a']);
  });

  it.each([
    ['on one page', paged([a, { ...b, key: 'a' }])],
    ['on two pages', paged([a, b], [{ ...c, key: 'a' }])],
  ])('is a usage error if two environments have it, %s', async (_where, list) => {
    const { code, err, puts } = await update('a', list);
    expect({ code, puts }).toEqual({ code: 64, puts: [] });
    expect(err).toMatch(/2 environments have the key "a": e1 \(A\), [\s\S]*give the id/);
  });

  it.each([
    [
      'cannot be read',
      ({ response }: Scene) => json(response, 403, { error: 'no' }),
      /cannot read the list: .*403/,
    ],
    ['is not a list', text('{}'), /cannot read the list/],
    ['has no ids', text('[{"key":"a"}]'), /the environment with that key has no id/],
  ])('is sent as an id if the list %s', async (_what, list, hint) => {
    const found = await update('a', list);
    expect({ code: found.code, puts: found.puts }).toEqual({ code: 0, puts: ['/api/environments/a'] });
    const unknown = await update('a', list, 404);
    expect(unknown.code).toBe(5);
    expect(unknown.err.replace(/\s+/g, ' ')).toMatch(hint);
  });
});
