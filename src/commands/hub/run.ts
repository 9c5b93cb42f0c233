import type { SecureContext } from 'node:tls';
import type { StopSignal } from '../../errors.ts';
import { exitCodeOfSignal } from '../../exit.ts';
import type { Health } from '../../hub/failover.ts';
import { createHub } from '../../hub/hub.ts';
import { deliveryReceiver } from '../../hub/receive.ts';
import { serveHub } from '../../hub/server.ts';
import { memoryStores, redisStores } from '../../hub/stores.ts';
import { redactor } from '../../redact.ts';
import { trustAlso } from '../../transport/trust.ts';
import { readCa } from '../ca-file.ts';
import type { Context } from '../context.ts';
import { cannotListen, hostOf, portOf, warnIfExposed } from '../listening.ts';
import { headerNamesOf, missingSecret, secretsOf } from '../webhooks/secrets.ts';
import { createLog, type HubEvent } from './log.ts';
import { createMetrics } from './metrics.ts';
import { budgetOf, type HubFlags, passwordsOf, redisUrlOf, tokensOf } from './options.ts';

/** How long the start waits for Redis, so that hubs that start together know of each other. */
const redisMs = 2_000;
/** How often the log says how many repeated events it left out. */
const flushMs = 60_000;

/** Returns whether Redis works, as far as the hub knows, and logs each change. */
function watchRedis(log: (event: HubEvent) => void): Health & { works(): boolean } {
  let works: boolean | null = null;
  return {
    works: () => works === true,
    report(error) {
      const before = works;
      works = error === null;
      if (before !== works && error !== null) log({ type: 'redis-lost', error });
      else if (before === false && error === null) log({ type: 'redis-back' });
    },
  };
}

async function secureContextOf({ io, settings: { caFile } }: Context): Promise<SecureContext | undefined> {
  if (caFile === undefined) return undefined;
  return trustAlso(await readCa(io, caFile));
}

/** `rungate hub`: serves gates and receives deliveries until it is stopped. */
export async function hubCommand(context: Context, flags: HubFlags): Promise<number> {
  const { io, output, settings } = context;
  const { clock } = io;
  const port = portOf(flags.port);
  const host = hostOf(flags.host);
  const limits = budgetOf(flags.budget);
  const redisUrl = redisUrlOf(io, flags.redis);
  const tokens = tokensOf(settings);
  const { keys, secrets, tenantSecret } = secretsOf(settings);
  if (keys.length === 0) throw missingSecret('hub');

  const { log, flush } = createLog(
    output,
    clock.now,
    redactor(redisUrl === null ? [] : passwordsOf(redisUrl)),
  );
  const metrics = createMetrics();
  const health = watchRedis(log);
  const stores =
    redisUrl === null
      ? memoryStores(limits, clock)
      : await redisStores(redisUrl, limits, clock, health, await secureContextOf(context));
  const hub = createHub(stores.budget, stores.wakes, clock);
  let stop: (signal: StopSignal) => void = () => {};
  const stopped = new Promise<StopSignal>((resolve) => {
    stop = resolve;
  });
  const unsubscribe = io.onStop(stop);
  const stopFlushing = io.every(flushMs, flush);
  try {
    const late = new AbortController();
    await Promise.race([stores.ready(), stopped, clock.sleep(redisMs, late.signal).catch(() => {})]);
    late.abort();
    await stores.budget.present();
    const server = await serveHub(host, port, {
      hub,
      clock,
      every: io.every,
      tokens,
      receive: deliveryReceiver(
        { secrets, tenantSecret, headerNames: headerNamesOf(settings) },
        stores.replays,
      ),
      redis: () => (redisUrl === null ? null : health.works()),
      metrics: metrics.text,
      log(event) {
        metrics.count(event);
        log(event);
      },
    }).catch((cause) => {
      throw cannotListen(cause, host, port);
    });
    await warnIfExposed(host, output);
    log({ type: 'listening', url: server.url });
    const signal = await stopped;
    log({ type: 'stopping', signal });
    await server.close();
    return exitCodeOfSignal(signal);
  } finally {
    stopFlushing();
    flush();
    hub.close();
    stores.close();
    unsubscribe();
  }
}
