import { startNginx } from './nginx.mjs';
import { startSentinels } from './sentinels.mjs';
import { startTcpProxy } from './tcp-proxy.mjs';

/**
 * Starts Redis as a scenario needs it, two hubs, and nginx in front of them.
 * @param bins the build of the first hubs, and that of those that `start` starts
 */
export async function startStage(fleet, { redis: way = '' }, bins, sentinelUrl) {
  const stops = [];
  /** Registers how something is stopped, and returns it. */
  const keep = (one, stop) => {
    stops.unshift(() => stop(one));
    return one;
  };
  const stopServer = (server) => server.stop();
  const redis = keep(await fleet.startRedis(), stopServer);
  let url = redis.url;
  let replica;
  let tcpProxy;
  if (way.includes('replica'))
    replica = keep(await fleet.startRedis(['--replicaof', '127.0.0.1', String(redis.port)]), stopServer);
  if (way.includes('proxy')) {
    tcpProxy = keep(await startTcpProxy(redis.port), (proxy) => proxy.close());
    url = `redis://127.0.0.1:${tcpProxy.port}`;
  }
  if (way.includes('sentinel')) {
    const ports = [await fleet.freePort(), await fleet.freePort(), await fleet.freePort()];
    const sentinels = keep(await startSentinels(ports, redis.port), stopServer);
    url = sentinelUrl.replace('{hosts}', sentinels.hosts);
  }
  const start = (port) => fleet.startHub(bins.later, url, port);
  const hubs = [await fleet.startHub(bins.first, url), await fleet.startHub(bins.first, url)];
  keep(hubs, (all) =>
    Promise.all(
      all.map((hub) => {
        hub.thaw();
        return hub.kill();
      }),
    ),
  );
  const ports = hubs.map(({ port }) => port);
  const nginx = keep(await startNginx(await fleet.freePort(), ports), stopServer);
  return {
    ...{ redis, replica, tcpProxy, hubs, nginx, start },
    readySince: Date.now(),
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}
