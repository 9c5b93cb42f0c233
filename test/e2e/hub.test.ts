import { connect } from 'node:net';
import { createClient } from '@redis/client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { isRedisMissing, startRedis, type TestRedis } from '../hub/redis.ts';
import { until } from '../until.ts';
import { type Running, rungate, shellProgram, start } from './built.ts';

const token = 'token-of-the-gates-0123456789';
const env = { RUNGATE_HUB_TOKEN: token, RUNGATE_WEBHOOK_SECRET: 'whook-Secret-0123456789' };

const running: Running[] = [];
afterEach(async () => {
  for (const one of running) one.child.kill('SIGKILL');
  await Promise.all(running.splice(0).map(({ ended }) => ended));
});

interface Hub extends Running {
  url: string;
  port: number;
}

/** Runs the built program on a free port. */
async function startHub(argv: readonly string[] = [], own: Record<string, string> = {}): Promise<Hub> {
  const hub = rungate(['hub', '--port', '0', ...argv], { ...env, ...own });
  running.push(hub);
  let out = '';
  hub.child.stdout?.on('data', (part) => {
    out += part;
  });
  await hub.shows(/listening/);
  const port = Number(/listening.*127\.0\.0\.1:(\d+)/.exec(out)?.[1]);
  return { ...hub, url: `http://127.0.0.1:${port}`, port };
}

/** Signs a body with `rungate webhooks sign` and its options, and returns the two headers. */
async function signed(body: string, options = ''): Promise<Record<string, string>> {
  const script = `printf %s '${body}' | ${shellProgram} webhooks sign ${options}`;
  const { out } = await start('sh', ['-c', script], env).ended;
  return Object.fromEntries(
    Array.from(out.matchAll(/^([\w-]+): (.*)$/gm), ([, name = '', value = '']) => [name, value]),
  );
}

const deliver = async (url: string, body: string, headers: Record<string, string>) =>
  (await fetch(`${url}/deliveries`, { method: 'POST', body, headers })).status;

const ask = (url: string, path: string, json: unknown) =>
  fetch(url + path, {
    method: 'POST',
    body: JSON.stringify(json),
    headers: { Authorization: `Bearer ${token}` },
  });

/** Opens a stream as a gate does. */
async function gate(url: string, runId: string): Promise<{ text(): string; ended: Promise<void> }> {
  const response = await ask(url, '/v1/wakes', { version: 1, runs: [runId] });
  let text = '';
  const decoder = new TextDecoder();
  const ended = (async () => {
    for await (const part of response.body ?? []) text += decoder.decode(part, { stream: true });
  })();
  ended.catch(() => {});
  await until(() => text.includes('event: ready'));
  return { text: () => text, ended };
}

const metric = async (url: string, name: string) => {
  const text = await (await fetch(`${url}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(`${name} `));
  return line === undefined ? null : Number(line.slice(name.length + 1));
};

describe('the built rungate hub', () => {
  it('wakes a gate, and on SIGTERM ends its streams, answers a delivery that is under way, and exits', async () => {
    const hub = await startHub(['--format', 'ndjson']);
    const { text, ended } = await gate(hub.url, 'run_1');
    const body = '{"runId":"run_1"}';
    const headers = await signed(body);
    expect(await deliver(hub.url, body, headers)).toBe(204);
    await until(() => text().includes('data: {"runId":"run_1"'));

    const slow = '{"runId":"run_2"}';
    const fields = Object.entries(await signed(slow)).map(([name, value]) => `${name}: ${value}\r\n`);
    const socket = connect(hub.port, '127.0.0.1');
    let response = '';
    socket.on('data', (part) => {
      response += part;
    });
    socket.write(
      `POST /deliveries HTTP/1.1\r\nHost: hub\r\n${fields.join('')}Content-Length: ${slow.length}\r\n\r\n`,
    );
    socket.write(slow.slice(0, 5));
    // Its headers have arrived if those of a later request have.
    await fetch(`${hub.url}/livez`);
    hub.child.kill('SIGTERM');
    await ended;
    socket.write(slow.slice(5));
    const { code, out, err } = await hub.ended;
    expect({ code, err }).toEqual({ code: 143, err: '' });
    expect(response).toMatch(/^HTTP\/1\.1 204 /);
    const events = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).event);
    expect(events).toEqual(['listening', 'stream', 'wake', 'delivery', 'stopping', 'delivery']);
  });
});

describe.skipIf(isRedisMissing)('two built hubs on one Redis with a password', () => {
  const password = 'redis-Password-0123';
  let redis: TestRedis;
  const command = async (...words: string[]) => {
    const client = createClient({ url: redis.url, password });
    await client.connect();
    try {
      await client.sendCommand(words);
    } finally {
      client.destroy();
    }
  };
  beforeAll(async () => {
    redis = await startRedis(['--requirepass', password]);
  });
  afterAll(() => redis.stop());

  it('share wake-ups, go on while Redis is read-only, and share them again', async () => {
    const own = { RUNGATE_HUB_REDIS_URL: redis.url.replace('//', `//:${password}@`) };
    const [one, other] = await Promise.all([startHub([], own), startHub([], own)]);
    const gates = await Promise.all([gate(one.url, 'run_1'), gate(other.url, 'run_1')]);
    const redisUp = ({ url }: Hub, value: number) =>
      until(async () => (await metric(url, 'rungate_hub_redis_up')) === value);
    const wakes = () => gates.map(({ text }) => text().match(/event: wake/g)?.length ?? 0);
    let count = 0;
    const named = async (hub: Hub) => {
      count += 1;
      const body = `{"runId":"run_1","count":${count}}`;
      expect(await deliver(hub.url, body, await signed(body))).toBe(204);
    };
    await Promise.all([redisUp(one, 1), redisUp(other, 1)]);
    await until(async () => {
      await named(one);
      return wakes().every((number) => number > 0);
    });

    await command('REPLICAOF', '127.0.0.1', '1');
    await Promise.all([redisUp(one, 0), redisUp(other, 0)]);
    expect(await (await fetch(`${one.url}/readyz`)).json()).toMatchObject({ status: 'degraded' });
    const before = wakes();
    await named(one);
    await until(() => (wakes()[0] ?? 0) > (before[0] ?? 0));
    // For a minute, since the other hub may just have used the whole budget.
    expect((await ask(one.url, '/v1/grants', { class: 'create' })).status).toBe(202);

    await command('REPLICAOF', 'NO', 'ONE');
    await Promise.all([redisUp(one, 1), redisUp(other, 1)]);
    const during = wakes();
    await until(async () => {
      await named(one);
      return (wakes()[1] ?? 0) > (during[1] ?? 0);
    });
    for (const hub of [one, other]) hub.child.kill('SIGTERM');
    for (const { code, out, err } of await Promise.all([one.ended, other.ended])) {
      expect({ code, err }).toEqual({ code: 143, err: '' });
      expect(out).toMatch(/ redis-lost error=.*\n(.*\n)*.* redis-back\n/);
      expect(out).not.toContain(password);
    }
  });
});
