import { describe, expect, it } from 'vitest';
import type { Io } from '../../src/host/io.ts';
import type { UnknownName } from '../../src/mock/known.ts';
import type { ServerOptions } from '../../src/mock/server.ts';
import { memoryIo } from '../cli/harness.ts';
import { main } from '../cli/main.ts';
import { byProcess, itemsOf, startService } from './service.ts';

async function started(options: ServerOptions = {}) {
  const unknown: UnknownName[] = [];
  const service = await startService({ ...options, onUnknown: (one) => unknown.push(one) });
  const run = (body: object) => service.post('/api/ci/runs', { ...byProcess, ...body });
  return { ...service, run, unknown };
}

describe('a run in a project or an environment that does not exist', () => {
  it('starts, and is reported with the name that was probably meant', async () => {
    const { run, unknown } = await started();
    expect((await run({ projectSlug: 'shpo', environmentKey: 'stag' })).status).toBe(201);
    expect(unknown).toEqual([
      { field: 'projectSlug', kind: 'project', label: 'slug', name: 'shpo', near: 'shop' },
      { field: 'environmentKey', kind: 'environment', label: 'key', name: 'stag', near: 'staging' },
    ]);
  });

  it('is refused by a strict mock, and its idempotency key may be used again', async () => {
    const { mock, post, unknown } = await started({ strict: true });
    const run = (environmentKey: string) =>
      post('/api/ci/runs', { ...byProcess, environmentKey }, { 'idempotency-key': 'k' });
    const refused = await run('stag');
    expect([refused.status, refused.json().details]).toEqual([
      422,
      'body.environmentKey: no environment has the key "stag"; did you mean staging?',
    ]);
    expect((await run('staging')).status).toBe(201);
    expect(mock.state.runs.size).toBe(1);
    expect(unknown).toEqual([]);
  });

  it('is known once it is an option of the mock, or created, until it is deleted', async () => {
    const { asUser, run } = await started({
      ...{ strict: true, projects: ['web', 'shop'], environments: ['qa-7', 'staging', 'qa-7'] },
    });
    for (const projectSlug of ['web', 'shop', 'payments-api'])
      expect((await run({ projectSlug, environmentKey: 'qa-7' })).status, projectSlug).toBe(201);
    const all = itemsOf(await asUser('GET', '/api/environments?pageSize=100'));
    expect(all.map(({ key }) => key).filter((key) => key === 'qa-7' || key === 'staging')).toEqual([
      ...['staging', 'qa-7'],
    ]);
    const { id } = (await asUser('POST', '/api/environments', { key: 'night' })).json();
    expect((await run({ environmentKey: 'night' })).status).toBe(201);
    await asUser('DELETE', `/api/environments/${id}`);
    expect((await run({ environmentKey: 'night' })).status).toBe(422);
  });

  it('gets an empty project from the options, whose data has no observations of others', async () => {
    const { asUser } = await started({ projects: ['web', 'shop'] });
    const countIn = async (slug: string) =>
      (await asUser('GET', `/api/projects/${slug}/observations`)).json().totalCount;
    expect([await countIn('web'), await countIn('shop')]).toEqual([0, 230]);
  });
});

describe('mock exec', () => {
  async function exec(options: readonly string[], bodies: readonly object[]) {
    const { io, printed } = memoryIo();
    const run: Io['run'] = async (_command, env) => {
      for (const body of bodies) {
        await fetch(`${env.RUNGATE_API_URL}/api/ci/runs`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-api-key': env.RUNGATE_API_KEY ?? '' },
          body: JSON.stringify({ ...byProcess, ...body }),
        });
      }
      return { code: 3, signal: null };
    };
    const code = await main(['mock', 'exec', ...options, '--', 'gate'], { ...io, run });
    return { code, err: printed().err };
  }

  it('warns once of each unknown name after the command has ended, and keeps its exit code', async () => {
    const shpo = { projectSlug: 'shpo' };
    expect(await exec([], [shpo, shpo, { environmentKey: 'a\u001b[31mb' }])).toEqual({
      code: 3,
      err: [
        'warning: the mock has no project "shpo", and started the run anyway',
        '  → did you mean shop? otherwise, add it to the mock with --project <slug>, or refuse such runs with --strict',
        'warning: the mock has no environment "a\\u001b[31mb", and started the run anyway',
        '  → add it to the mock with --environment <key>, or refuse such runs with --strict',
        '',
      ].join('\n'),
    });
  });

  it('is silent about the names of its data set and of its options, and with --strict', async () => {
    const bodies = [{}, { environmentKey: 'staging' }, { projectSlug: 'web', environmentKey: 'qa, 7' }];
    const added = ['--project', 'web', '--environment', 'qa, 7'];
    expect(await exec(added, bodies)).toEqual({ code: 3, err: '' });
    expect(await exec(['--strict'], bodies)).toEqual({ code: 3, err: '' });
  });
});
