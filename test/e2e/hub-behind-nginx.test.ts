import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request as httpsRequest, type RequestOptions } from 'node:https';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createHubClient } from '../../src/gate/fleet/hub-client.ts';
import type { HubEvent } from '../../src/gate/fleet/protocol.ts';
import { nameInCommands } from '../../src/options/spelling.ts';
import { receiver } from '../../src/transport/address.ts';
import { httpTransport } from '../../src/transport/send.ts';
import { defaultHeaderNames } from '../../src/webhook/headers.ts';
import { signSync } from '../../src/webhook/node.ts';
import { freePort } from '../free-port.ts';
import { request } from '../gate/fleet/fake-hub.ts';
import { isRedisMissing, startRedis } from '../hub/redis.ts';
import { isNginxMissing, startNginx } from '../nginx.ts';
import { until } from '../until.ts';
import { type Running, rungate } from './built.ts';

const execute = promisify(execFile);
const isMissing = isRedisMissing || isNginxMissing;
const pem = (name: string) => fileURLToPath(new URL(`../transport/tls/${name}`, import.meta.url));
const ca = readFileSync(pem('ca.pem'), 'utf8');
const documented = readFileSync(new URL('../../docs/hub/nginx.conf', import.meta.url), 'utf8');
const secret = 'whook-Secret-0123456789';
const token = 'token-of-the-gates-0123456789';

/** Runs nginx with docs/hub/nginx.conf, on free ports and with a certificate of the tests. Returns its URL. */
const startDocumented = (ports: readonly [number, number]): Promise<string> =>
  startNginx((port) =>
    documented
      .replace('127.0.0.1:4020', `127.0.0.1:${ports[0]}`)
      .replace('127.0.0.1:4021', `127.0.0.1:${ports[1]}`)
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace('hub.example.com', 'localhost')
      .replace('/etc/ssl/hub.pem', pem('server.pem'))
      .replace('/etc/ssl/hub.key', pem('server.key')),
  );

/** Runs the built hub at a port until the test ends. Returns a function that restarts it, as an operator does. */
async function startHub(port: number, redisUrl: string): Promise<{ restart(): Promise<void> }> {
  const env = { RUNGATE_HUB_TOKEN: token, RUNGATE_WEBHOOK_SECRET: secret, RUNGATE_HUB_REDIS_URL: redisUrl };
  let hub: Running;
  const isReady = () =>
    fetch(`http://127.0.0.1:${port}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    );
  const start = async () => {
    hub = rungate(['hub', '--port', String(port)], env);
    await until(isReady);
  };
  await start();
  onTestFinished(async () => {
    hub.child.kill('SIGKILL');
    await hub.ended;
  });
  return {
    async restart() {
      hub.child.kill('SIGTERM');
      expect(await hub.ended).toMatchObject({ code: 143, err: '' });
      await start();
    },
  };
}

/** Sends a request on a new connection. Resolves when the response begins. */
async function send(url: string, options: RequestOptions, body?: string): Promise<IncomingMessage> {
  const sent = httpsRequest(url, { ca, agent: false, ...options });
  sent.end(body);
  const [response] = await once(sent, 'response');
  return response;
}

const signedHeaders = (body: string) => {
  const { timestamp, signature } = signSync({ body, secret });
  return { [defaultHeaderNames.timestamp]: timestamp, [defaultHeaderNames.signature]: signature };
};

async function deliver(url: string, body: string): Promise<number | undefined> {
  const options = { method: 'POST', headers: signedHeaders(body) };
  const response = await send(`${url}/deliveries`, options, body);
  response.resume();
  return response.statusCode;
}

/** Watches runs as a gate does: it connects again whenever its stream ends. */
function watch(url: string, runIds: readonly string[]) {
  const to = receiver('hub', nameInCommands);
  const transport = httpTransport({ caPem: ca, to });
  const stop = new AbortController();
  const client = createHubClient({ url: new URL(url), token, transport, clock: systemClock, to });
  const woken = new Set<string>();
  let lastId: string | null = null;
  let ready = 0;
  const onEvent = (event: HubEvent) => {
    if (event.type === 'ready') ready += 1;
    if (event.type !== 'wake') return;
    woken.add(event.runId);
    lastId = event.id;
  };
  const ended = (async () => {
    // The hub or the test ends each stream.
    while (!stop.signal.aborted) await client.follow(runIds, lastId, onEvent, stop.signal).catch(() => {});
  })();
  onTestFinished(async () => {
    stop.abort();
    await ended;
    await transport.close();
  });
  return { woken, ready: () => ready, grant: () => client.grant(request('confirm'), stop.signal) };
}

async function twoHubs() {
  const redis = await startRedis();
  onTestFinished(() => redis.stop());
  const ports = [await freePort(), await freePort()] as const;
  const hubs = await Promise.all(ports.map((port) => startHub(port, redis.url)));
  return { hubs, url: await startDocumented(ports) };
}

it.skipIf(isMissing)('docs/hub/nginx.conf serves gates and deliveries, and nothing else', async () => {
  const { url } = await twoHubs();
  // nginx takes the hubs in turn, so each of the two has a stream.
  const gates = [watch(url, ['run_1']), watch(url, ['run_1'])];
  await until(() => gates.every(({ ready }) => ready() === 1));
  const body = '{"run":"run_1"}';
  const headers = Object.entries(signedHeaders(body)).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const options = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--cacert', pem('ca.pem')];
  const { stdout } = await execute('curl', [...options, ...headers, '-d', body, `${url}/deliveries`]);
  expect(stdout).toBe('204');
  await until(() => gates.every(({ woken }) => woken.has('run_1')));
  expect(await gates[0]?.grant()).toEqual({ granted: true });
  for (const path of ['/metrics', '/livez', '/readyz', '/']) {
    const response = await send(url + path, {});
    response.resume();
    expect([path, response.statusCode]).toEqual([path, 404]);
  }
});

it.skipIf(isMissing)(
  'a rolling restart behind docs/hub/nginx.conf loses no delivery and no wake-up',
  async () => {
    const { hubs, url } = await twoHubs();
    const runsOfGate = 500;
    const gates = Array.from({ length: 10 }, (_, gate) =>
      watch(
        url,
        Array.from({ length: runsOfGate }, (_run, run) => `run_${gate}_${run}`),
      ),
    );
    await until(() => gates.every(({ ready }) => ready() === 1));
    const statuses: (number | undefined)[] = [];
    const delivered = gates.map(() => 0);
    let isOver = false;
    // One delivery after the other for each gate.
    const flow = gates.map(async (_, gate) => {
      for (let at = 0; !isOver; at += 1) {
        statuses.push(await deliver(url, JSON.stringify({ run: `run_${gate}_${at % runsOfGate}`, at })));
        delivered[gate] = Math.min(at + 1, runsOfGate);
      }
    });
    for (const hub of hubs) await hub.restart();
    isOver = true;
    await Promise.all(flow);
    expect(statuses.filter((status) => status !== 204)).toEqual([]);
    await until(() => gates.every(({ woken }, gate) => woken.size === delivered[gate]));
    // Each gate was at one of the two hubs.
    expect(Math.min(...gates.map(({ ready }) => ready()))).toBeGreaterThan(1);
  },
);
