import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { detachedPaths, type RegisterRequest } from '../../../src/gate/detached/protocol.ts';
import { every } from '../../../src/host/process-events.ts';
import { until } from '../../until.ts';
import { ask, deliver, hub } from './running-hub.ts';

interface Received {
  request: string;
  authorization: string | undefined;
  body: string;
}

/** Starts a GitHub that accepts the tokens of some. */
async function gitHub(tokens: readonly string[]) {
  const received: Received[] = [];
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request) body += String(part);
    const { method, url, headers } = request;
    const { authorization } = headers;
    received.push({ request: `${method} ${url}`, authorization, body });
    const isKnown = tokens.some((token) => authorization === `Bearer ${token}`);
    response.writeHead(isKnown ? 204 : 401).end(isKnown ? undefined : '{"message":"Bad credentials"}');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  return { received, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v3` };
}

const id = '5d1c0a7be2f94863';
const gate: RegisterRequest = {
  id,
  repository: 'acme/shop',
  commit: 'c0ffee1',
  context: 'rungate: shop / checkout',
  ref: 'main',
  pull: '7',
  sealed: 'c2VhbGVk',
  runs: ['run_79e0'],
  endsInMs: 60_000,
  job: 'job-of-the-first-gate',
};

/** Starts a hub that keeps one gate. */
async function hubWithGate(env: Record<string, string>, files: Record<string, string>) {
  const on = await hub(undefined, { env, files, every: (_, beat) => every(20, beat) });
  expect((await ask(on.url, detachedPaths.register, gate)).status).toBe(200);
  const { job, sealed, runs, endsInMs } = gate;
  const handover = { id, job, sealed, runs, endsInMs, done: false, released: true };
  expect((await ask(on.url, detachedPaths.save, handover)).status).toBe(204);
  return { ...on, logged: (event: string) => on.events().filter((each) => each.event === event) };
}

it('starts the workflow of a gate at GitHub with the token that is in the file then', async () => {
  const { url, received } = await gitHub(['later-token']);
  const files = { '/token': 'first-token\n' };
  const on = await hubWithGate({ RUNGATE_GITHUB_TOKEN_FILE: '/token', GITHUB_API_URL: url }, files);
  expect(on.logged('gate-kept')).toMatchObject([{ id, startsJobs: true }]);
  files['/token'] = 'later-token\n';
  await deliver(on.url, '{"id":"run_79e0"}');
  await until(() => on.logged('job-started').length === 1);
  expect(received).toEqual([
    {
      request: 'POST /api/v3/repos/acme/shop/actions/workflows/rungate-resume.yml/dispatches',
      authorization: 'Bearer later-token',
      body: JSON.stringify({ ref: 'main', inputs: { id } }),
    },
  ]);
  expect(on.out()).not.toContain('token');
});

it('logs a start that GitHub refuses, without the token', async () => {
  const { url, received } = await gitHub([]);
  const on = await hubWithGate({ RUNGATE_GITHUB_TOKEN: 'hunter-token', GITHUB_API_URL: url }, {});
  await deliver(on.url, '{"id":"run_79e0"}');
  await until(() => on.logged('start-failed').length === 1);
  expect(on.logged('start-failed')).toMatchObject([
    { id, repository: 'acme/shop', error: expect.stringMatching(/status code 401 .*: Bad credentials$/) },
  ]);
  await on.stop();
  expect([received.length, on.logged('job-started')]).toEqual([1, []]);
  expect(on.out()).not.toContain('hunter');
});
