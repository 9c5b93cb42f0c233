import { describe, expect, it, onTestFinished } from 'vitest';
import { startRedis } from '../hub/redis.ts';
import { until } from '../until.ts';
import { container } from './container.ts';

const secrets = { RUNGATE_HUB_TOKEN: 'hub-token-Zk3J9aQ7Lm2X', RUNGATE_WEBHOOK_SECRET: 'whsec_of_the_hub' };

describe('the hub in the image', () => {
  it('works with Redis on a read-only root file system, and stops on SIGTERM', async () => {
    const redis = await startRedis();
    onTestFinished(() => redis.stop());
    const hub = container({
      args: ['hub', '--port', '0'],
      env: { ...secrets, RUNGATE_HUB_REDIS_URL: redis.url },
      user: '12345',
      readOnly: true,
    });
    const [, url] = await hub.shows(/listening.*?(http:\/\/127\.0\.0\.1:\d+|127\.0\.0\.1:\d+)/);
    const at = (path: string) => fetch(`http://${url?.replace('http://', '')}${path}`);
    await until(async () => (await (await at('/metrics')).text()).includes('\nrungate_hub_redis_up 1\n'));
    expect(await (await at('/readyz')).json()).toMatchObject({ status: 'ok' });
    hub.child.kill('SIGTERM');
    expect(await hub.ended).toMatchObject({ code: 143, err: '' });
  });
});
