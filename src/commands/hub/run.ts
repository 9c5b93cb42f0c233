import { within } from '../../clock.ts';
import { messageOf, type StopSignal } from '../../errors.ts';
import { exitCodeOfSignal } from '../../exit.ts';
import { deliveryReceiver } from '../../hub/deliveries.ts';
import { memoryHub, redisHub } from '../../hub/hub.ts';
import type { RedisState } from '../../hub/probes.ts';
import { passwordsOf } from '../../hub/redis-address.ts';
import { serveHub } from '../../hub/server.ts';
import { redactor } from '../../redact.ts';
import { secureContextOf } from '../config/certificates.ts';
import { command, rowOptions } from '../spec.ts';
import {
  deliveryHeaders,
  listenHost,
  listenPort,
  missingSecret,
  portAndHost,
  signingSecrets,
  warnIfReachable,
} from '../webhooks/receiver.ts';
import { jobStarter } from './jobs.ts';
import { createLog, type LoggedEvent } from './log.ts';
import { createMetrics } from './metrics.ts';
import { budgetOf, checkedTokens, hubCountOf, redisPrefixOf, redisUrlOf } from './options.ts';

const notes = `Secrets: set RUNGATE_WEBHOOK_SECRET (or RUNGATE_TENANT_SECRET) for deliveries
and RUNGATE_HUB_TOKEN for gates, or these with _FILE to use a file. Several
secrets or tokens: one per line. A Redis URL with a password:
RUNGATE_HUB_REDIS_URL or RUNGATE_HUB_REDIS_URL_FILE. A token of GitHub, which
starts the jobs of detached gates: RUNGATE_GITHUB_TOKEN or
RUNGATE_GITHUB_TOKEN_FILE. No option takes a secret.

To use Redis, install @redis/client with the npm package of rungate:
  npx -p rungate -p @redis/client rungate hub --redis <url>
`;

/** How long the start waits for Redis, so that hubs that start together know of each other. */
const redisMs = 2_000;
/** How often the log says how many repeated events it left out. */
const flushMs = 60_000;

/** Returns whether Redis works, as far as the hub knows, and logs each change, also of the reason. */
function watchRedis(log: (event: LoggedEvent) => void): {
  onCall(error: unknown): void;
  state(): RedisState;
} {
  /** Null while Redis works, undefined before the first report. */
  let reason: string | null | undefined;
  let wasReached = false;
  return {
    state: () => ({ works: reason === null, wasReached }),
    onCall(error) {
      const before = reason;
      reason = error === null ? null : messageOf(error);
      wasReached ||= reason === null;
      if (before === reason) return;
      if (error !== null) log({ type: 'redis-lost', error });
      else if (before !== undefined) log({ type: 'redis-back' });
    },
  };
}

/** Serves gates and receives deliveries until it is stopped. */
export const hub = command({
  name: 'hub',
  summary: 'serve the hub of a fleet of gates',
  heading: 'Tools:',
  description:
    'Serve the hub of a fleet of gates until stopped: receive deliveries, wake the gates whose runs they name, and share the rate limits among all gates.',
  options: {
    ...portAndHost,
    '--redis <url>':
      'Redis that several hubs share, for example redis-sentinel://host:26379#master (RUNGATE_HUB_REDIS_URL)',
    '--redis-prefix <prefix>':
      'prefix of all keys in Redis, for several tenants on one Redis (default rungate; RUNGATE_HUB_REDIS_PREFIX)',
    '--hubs <n>':
      'number of hubs that share Redis: while Redis is down, each grants its share of the budget (default 2)',
    '--budget <limits>':
      'requests per minute for all gates together (default reads=48,creates=16,requests=80)',
    ...rowOptions('hub'),
  },
  notes,
  examples: ['rungate hub --redis redis://redis.internal:6379  # until Ctrl-C'],
  async run(context, _args, flags) {
    const { io, output, settings } = context;
    const { clock } = io;
    const port = listenPort(flags.port);
    const host = listenHost(flags.host);
    const limits = budgetOf(flags.budget);
    const redisUrl = redisUrlOf(io, flags.redis);
    const prefix = redisPrefixOf(io, flags.redisPrefix);
    const hubs = hubCountOf(flags.hubs);
    const tokens = checkedTokens(settings);
    const { keys, secrets, tenantSecret } = signingSecrets(settings);
    if (keys.length === 0) throw missingSecret('hub');

    const { log, flush } = createLog(
      output,
      clock.now,
      redactor(redisUrl === null ? [] : passwordsOf(redisUrl)),
    );
    const metrics = createMetrics(io.version, io.nodeVersion);
    const watch = watchRedis(log);
    const headerNames = deliveryHeaders(settings);
    const startJob = await jobStarter(context);
    const hub =
      redisUrl === null
        ? memoryHub(limits, clock)
        : await redisHub(redisUrl, clock, {
            limits,
            hubs,
            prefix,
            onCall: watch.onCall,
            secureContext: await secureContextOf(io, settings),
          });
    let stop: (signal: StopSignal) => void = () => {};
    const stopped = new Promise<StopSignal>((resolve) => {
      stop = resolve;
    });
    const unsubscribe = io.onStop(stop);
    const stopFlushing = io.every(flushMs, flush);
    try {
      await within(redisMs, Promise.race([hub.ready(), stopped]), clock);
      await hub.budget.refresh();
      const server = await serveHub(host, port, {
        hub,
        clock,
        every: io.every,
        tokens,
        receive: deliveryReceiver({ secrets, tenantSecret, headerNames }, clock.now),
        redis: () => (redisUrl === null ? null : watch.state()),
        startJob,
        metrics: metrics.text,
        log(event) {
          metrics.count(event);
          log(event);
        },
      });
      await warnIfReachable(host, output);
      log({ type: 'listening', url: server.url });
      const signal = await stopped;
      log({ type: 'stopping', signal });
      await server.close();
      return exitCodeOfSignal(signal);
    } finally {
      stopFlushing();
      flush();
      await hub.close();
      unsubscribe();
    }
  },
});
