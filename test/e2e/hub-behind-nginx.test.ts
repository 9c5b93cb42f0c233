import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect as connectTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { createHubClient } from '../../src/gate/fleet/hub-client.ts';
import type { HubEvent } from '../../src/gate/fleet/hub-link.ts';
import { usualBudget } from '../../src/hub/budget.ts';
import { deliveryReceiver } from '../../src/hub/deliveries.ts';
import { createHub } from '../../src/hub/hub.ts';
import { type HubServer, serveHub } from '../../src/hub/server.ts';
import { memoryStores } from '../../src/hub/stores.ts';
import { httpTransport } from '../../src/transport/send.ts';
import { defaultHeaderNames } from '../../src/webhook/headers.ts';
import { signSync } from '../../src/webhook/node.ts';
import { freePort } from '../free-port.ts';
import { until } from '../until.ts';
import { idleProbes } from './idle-probes.ts';

const execute = promisify(execFile);
// `.ci/run` requires nginx. Elsewhere the test is skipped without it.
const isMissing = !process.env.REQUIRE_TOOLS && spawnSync('nginx', ['-v']).status !== 0;
const pem = (name: string) => new URL(`../transport/tls/${name}`, import.meta.url);
const page = readFileSync(new URL('../../docs/hub.md', import.meta.url), 'utf8');
const documented = /```nginx\n(.*?)```/s.exec(page)?.[1] ?? '';
const secret = 'whsec_of_the_test';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connectTcp(port, '127.0.0.1');
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

/** Runs nginx with the configuration of docs/hub.md, on free ports and with a certificate of the tests. */
async function startNginx(ports: readonly [number, number]): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-nginx-'));
  const port = await freePort();
  const server = documented
    .replace('4020', String(ports[0]))
    .replace('4021', String(ports[1]))
    .replace('listen 443', `listen 127.0.0.1:${port}`)
    .replace('hub.example.com', 'localhost')
    .replace('/etc/ssl/hub.pem', fileURLToPath(pem('server.pem')))
    .replace('/etc/ssl/hub.key', fileURLToPath(pem('server.key')));
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`);
  const config = join(folder, 'nginx.conf');
  writeFileSync(
    config,
    `daemon off; pid ${join(folder, 'pid')}; error_log stderr;
     events {} http { access_log off; ${paths.join(' ')} ${server} }`,
  );
  const nginx: ChildProcess = spawn('nginx', ['-c', config, '-e', 'stderr'], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = new Promise<void>((resolve) => nginx.once('exit', () => resolve()));
  cleanups.push(async () => {
    nginx.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  await until(() => isListening(port));
  return port;
}

it.skipIf(isMissing)(
  'serves gates and deliveries through the nginx configuration of docs/hub.md',
  async () => {
    const stores = memoryStores(usualBudget, systemClock);
    const serve = (): Promise<HubServer> =>
      serveHub('127.0.0.1', 0, {
        hub: createHub(stores.budget, stores.wakes, systemClock),
        clock: systemClock,
        every: () => () => {},
        tokens: ['token-of-the-gates'],
        receive: deliveryReceiver(
          { secrets: [secret], tenantSecret: undefined, headerNames: defaultHeaderNames },
          stores.replays,
          systemClock.now,
        ),
        redis: () => null,
        probes: idleProbes(),
        metrics: async () => ({ type: 'text/plain', text: '' }),
        log() {},
      });
    const [first, second] = await Promise.all([serve(), serve()]);
    cleanups.push(() => second.close());
    const port = await startNginx([first.port, second.port]);
    const url = `https://localhost:${port}`;
    const transport = httpTransport({ caPem: readFileSync(pem('ca.pem'), 'utf8') });
    cleanups.push(() => transport.close());
    const client = createHubClient({
      ...{ url: new URL(url), token: 'token-of-the-gates', transport, clock: systemClock },
    });
    const stop = new AbortController();
    cleanups.push(() => stop.abort());
    const open = (runId: string) => {
      const events: HubEvent[] = [];
      void (async () => {
        for await (const event of client.events([runId], null, stop.signal)) events.push(event);
      })().catch(() => {});
      return events;
    };
    const deliver = async (body: string) => {
      const { timestamp, signature } = signSync({ body, secret });
      const args = ['-s', '-o', '/dev/null', '-w', '%{http_code}', '--cacert', fileURLToPath(pem('ca.pem'))];
      const headers = [
        `${defaultHeaderNames.timestamp}: ${timestamp}`,
        `${defaultHeaderNames.signature}: ${signature}`,
      ].flatMap((header) => ['-H', header]);
      const { stdout } = await execute('curl', [...args, ...headers, '-d', body, `${url}/deliveries`]);
      return Number(stdout);
    };

    // nginx takes the hubs in turn, so each of the two has a stream.
    const streams = [open('run_1'), open('run_1')];
    await until(() => streams.every((events) => events.length === 1));
    expect(await deliver('{"run":"run_1"}')).toBe(204);
    await until(() => streams.every((events) => events.some(({ type }) => type === 'wake')));
    expect(await client.grant('confirm', 0, stop.signal)).toEqual({ granted: true });

    await first.close();
    const again = open('run_2');
    await until(() => again.length === 1);
    expect(await deliver('{"run":"run_2"}')).toBe(204);
    await until(() => again.some(({ type }) => type === 'wake'));
  },
);
