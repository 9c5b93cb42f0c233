import { afterAll, describe, expect, it } from 'vitest';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { rungate } from './built.ts';
import { type FullPipe, fullPipe } from './full-pipe.ts';
import type { Running } from './process.ts';

const mocks: MockServer[] = [];
const pipes: FullPipe[] = [];
/** Also the processes of tests that failed. */
const started: Running[] = [];
afterAll(async () => {
  for (const { child } of started) child.kill('SIGKILL');
  for (const pipe of pipes) pipe.close();
  for (const mock of mocks) await mock.close();
});

async function mockOf(outcome: 'passed' | 'failed' | 'stuck') {
  const mock = await startMock({ outcome, duration: 300, retryAfterSeconds: 0.1 });
  mocks.push(mock);
  return { mock, env: { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey } };
}

function blocked(): FullPipe {
  const pipe = fullPipe();
  pipes.push(pipe);
  return pipe;
}

/** Starts the command with these streams blocked. */
function withBlocked(
  streams: 'out' | 'err' | 'both',
  args: readonly string[],
  env: Record<string, string> = {},
) {
  const out = streams === 'err' ? undefined : blocked();
  const err = streams === 'out' ? undefined : blocked();
  const running = rungate(args, env, { out: out?.fd, err: err?.fd });
  started.push(running);
  return { ...running, stdout: out, stderr: err };
}

const gate = 'run trigger --project shop --process checkout --wait --json --verbose'.split(' ');

describe.concurrent('unread standard error does not keep a gate from its end:', () => {
  it('the verdict', async () => {
    const { env } = await mockOf('passed');
    const { code, out } = await withBlocked('err', gate, env).ended;
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ result: 'pass', runs: [{ verdict: 'passed' }] });
  });

  it('SIGTERM, after which the run is cancelled', async () => {
    const { mock, env } = await mockOf('stuck');
    const running = withBlocked('err', gate, { ...env, CI: 'true' });
    await until(() => mock.requests.some(({ endpoint }) => endpoint === 'run.status'));
    running.child.kill('SIGTERM');
    const { code, out } = await running.ended;
    expect(code).toBe(143);
    expect(JSON.parse(out)).toMatchObject({ cancellation: 'requested' });
  });
});

describe.concurrent('an unread result', () => {
  it.each(['out', 'both'] as const)('is not a success (%s blocked)', async (streams) => {
    const { env } = await mockOf('passed');
    const { code, err } = await withBlocked(streams, gate, env).ended;
    expect(code).toBe(78);
    if (streams === 'out')
      expect(err).toMatch(/"message":"the result could not be written to standard output: /);
  });

  it('does not replace the exit code of a failed gate', async () => {
    const { env } = await mockOf('failed');
    expect(await withBlocked('out', gate, env).ended).toMatchObject({ code: 1 });
  });

  it.each(['run status x --json', 'completion bash'])('ends %s', async (line) => {
    const { mock, env } = await mockOf('passed');
    mock.faults.add({ kind: 'reply', text: '{"state":"x"}', endpoint: 'run.status' });
    const ended = await withBlocked('out', line.split(' '), env).ended;
    expect(ended).toMatchObject({ code: 78, signal: null });
  });
});

describe.concurrent('a server with unread standard error ends on SIGTERM:', () => {
  it.each(['hub', 'webhooks listen', 'mock serve'])('%s', async (command) => {
    const port = String(await freePort());
    const env = { RUNGATE_WEBHOOK_SECRET: 'secret', RUNGATE_HUB_TOKEN: 'token-of-the-hub' };
    const running = withBlocked('err', [...command.split(' '), '--port', port], env);
    await until(() =>
      fetch(`http://127.0.0.1:${port}/`).then(
        () => true,
        () => false,
      ),
    );
    running.child.kill('SIGTERM');
    expect(await running.ended).toMatchObject({ code: 143 });
  });
});
