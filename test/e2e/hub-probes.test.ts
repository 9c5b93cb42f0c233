import { once } from 'node:events';
import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { isRedisMissing, startRedis } from '../hub/redis.ts';
import { until } from '../until.ts';
import { type Running, rungate, shellProgram, start } from './built.ts';

const env = {
  RUNGATE_HUB_TOKEN: 'token-of-the-gates-0123456789',
  RUNGATE_WEBHOOK_SECRET: 'whook-Secret-0123456789',
};

async function urlOf(hub: Running): Promise<string> {
  onTestFinished(async () => {
    hub.child.kill('SIGKILL');
    await hub.ended;
  });
  const [, url] = await hub.shows(/listening url=(\S+)/);
  return String(url);
}

const readiness = async (url: string) => {
  const response = await fetch(`${url}/readyz`);
  const { status, reasons } = (await response.json()) as { status: string; reasons?: string[] };
  return { code: response.status, status, reasons };
};

it.skipIf(isRedisMissing)(
  'the built hub is ready once it has reached Redis, and degraded when it has lost it',
  async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    await redis.kill();
    const url = await urlOf(rungate(['hub', '--port', '0'], { ...env, RUNGATE_HUB_REDIS_URL: redis.url }));
    const reasons = ['Redis was not reached since the start'];
    expect(await readiness(url)).toEqual({ code: 503, status: 'not ready', reasons });
    const becomes = (status: string) => until(async () => (await readiness(url)).status === status);
    await redis.restart();
    await becomes('ok');
    await redis.kill();
    await becomes('degraded');
    expect(await readiness(url)).toEqual({ code: 200, status: 'degraded', reasons: ['Redis does not work'] });
  },
);

// Windows has no such limit.
it.skipIf(process.platform === 'win32')(
  'the built hub is not ready while it has no file descriptor left',
  async () => {
    const script = `ulimit -n 64 && exec ${shellProgram} hub --port 0`;
    const url = await urlOf(start('sh', ['-c', script], env));
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    /** Asks on the connection that the first call opened. */
    const ask = async () => {
      const [response] = await once(get(`${url}/readyz`, { agent }), 'response');
      let text = '';
      for await (const part of response) text += part;
      return { code: response.statusCode, ...JSON.parse(text) };
    };
    expect(await ask()).toMatchObject({ code: 200, status: 'ok' });
    const sockets = Array.from({ length: 80 }, () => connect(Number(new URL(url).port), '127.0.0.1'));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
    });
    for (const socket of sockets) socket.on('error', () => {});
    await until(async () => (await ask()).code === 503);
    expect(await ask()).toMatchObject({ status: 'not ready', reasons: ['no file descriptor is left'] });
    for (const socket of sockets) socket.destroy();
    await until(async () => (await ask()).code === 200);
  },
);
