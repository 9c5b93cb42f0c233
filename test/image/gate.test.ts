import { generateKeyPairSync } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { createServer } from 'node:https';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listen } from '../listen.ts';
import { container, type Settings, service, terminalContainer, workspace } from './container.ts';

const gate = ['gate', '--project', 'shop', '--process', 'checkout'];
const commit = 'c'.repeat(40);

/** The variables of a job in GitLab CI. */
const ci = {
  GITLAB_CI: 'true',
  CI_PIPELINE_ID: '1',
  CI_JOB_ID: '2',
  CI_JOB_NAME: 'e2e',
  CI_PROJECT_PATH: 'a/b',
};

/** The user of the image, one without a name in the image, and root. */
const users = ['65532:65532', '12345:54321', '0:0'];

describe('a gate', () => {
  it.each(users)('reads the project file of any owner, as user %s', async (user) => {
    const { env, mock } = await service({ outcome: 'passed' });
    const source = workspace(1000, { '.rungate.json': '{ "project": "shop", "process": "from-file" }' });
    const mounts = [{ source, target: '/workspace', readOnly: true }];
    expect(await container({ args: ['gate'], env, user, mounts, readOnly: true }).ended).toMatchObject({
      code: 0,
      err: expect.not.stringContaining('warning'),
    });
    expect([...mock.state.runs.values()].map(({ request }) => request.processSlug)).toEqual(['from-file']);
  });

  it.each(users)('writes its reports and its receipt to the workspace only, as user %s', async (user) => {
    const { env, mock } = await service({ outcome: 'passed', deployed: commit });
    const { privateKey } = generateKeyPairSync('ed25519');
    const key = String(privateKey.export({ type: 'pkcs8', format: 'pem' }));
    const source = workspace(Number(user.split(':')[0]));
    const { code, err } = await container({
      args: [
        ...gate,
        '--commit-sha',
        commit,
        '--deployed-url',
        `${mock.url}/_mock/version`,
        '--receipt',
        'out/receipt.json',
        '--junit',
        'out/rungate.xml',
      ],
      env: { ...env, RUNGATE_RECEIPT_KEY: key },
      user,
      mounts: [{ source, target: '/workspace' }],
      readOnly: true,
    }).ended;
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('warning') });
    expect(JSON.parse(readFileSync(join(source, 'out/receipt.json'), 'utf8'))).toHaveProperty('payload');
    expect(readFileSync(join(source, 'out/rungate.xml'), 'utf8')).toContain('<testsuites');
    expect(statSync(join(source, 'out/receipt.json')).uid).toBe(Number(user.split(':')[0]));
  });

  it('trusts the certificates of a --ca-file in the workspace', async () => {
    const pem = (name: string) => readFileSync(new URL(`../transport/tls/${name}`, import.meta.url), 'utf8');
    const server = createServer({ key: pem('server.key'), cert: pem('server.pem') }, (_, response) =>
      response
        .setHeader('content-type', 'application/json')
        .end('{"state":"completed","failed":0,"blocked":0}'),
    );
    const port = await listen(server);
    const settings: Settings = {
      env: {
        RUNGATE_API_URL: `https://localhost:${port}`,
        RUNGATE_API_KEY: 'key',
      },
      mounts: [{ source: workspace(0, { 'ca.pem': pem('ca.pem') }), target: '/workspace', readOnly: true }],
      readOnly: true,
    };
    const wait = ['run', 'wait', 'run_1', '--timeout', '1m'];
    expect(await container({ ...settings, args: [...wait, '--ca-file', 'ca.pem'] }).ended).toMatchObject({
      code: 0,
    });
    const ended = await container({ ...settings, args: wait }).ended;
    expect(ended).toMatchObject({ code: 7, err: expect.stringContaining('is not trusted') });
  });

  it('warns of nothing in a CI job without a home folder or a writable temporary folder', async () => {
    const { env } = await service({ outcome: 'passed' });
    const { code, err } = await container({
      args: gate,
      env: { ...env, ...ci },
      user: '12345',
      readOnly: true,
    }).ended;
    expect({ code, err }).toEqual({ code: 0, err: expect.not.stringContaining('warning') });
  });
});

describe('process 1 of the container', () => {
  it('cancels the run on SIGINT and exits with 130', async () => {
    const { env, mock } = await service({ outcome: 'stuck' });
    const running = container({ args: gate, env, readOnly: true });
    await running.shows(/in_progress/);
    expect((await running.exec(['cat', '/proc/1/cmdline']).ended).out).toMatch(/^rungate\0gate\0/);
    running.child.kill('SIGINT');
    expect(await running.ended).toMatchObject({ code: 130 });
    expect([...mock.state.runs.values()].map(({ cancelled }) => cancelled?.reason)).toEqual([
      expect.stringContaining('SIGINT'),
    ]);
  });

  it('cancels the run on Ctrl-C in a terminal', async () => {
    const { env, mock } = await service({ outcome: 'stuck' });
    const { pty, shows, ended } = terminalContainer({ args: gate, env: { ...env, TERM: 'xterm-256color' } });
    await shows(/in_progress|in progress/);
    pty.write('\u0003');
    expect(await ended).toBe(130);
    expect([...mock.state.runs.values()].map(({ cancelled }) => cancelled?.reason)).toEqual([
      expect.stringContaining('SIGINT'),
    ]);
  });
});
