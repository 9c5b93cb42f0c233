import type { RedisServer } from './redis-address.ts';
import { commandMs, connectMs, destroy, shown, withinMs } from './redis-session.ts';

/** The part of a client that a question to a Sentinel needs. It must not reconnect by itself. */
export interface SentinelClient {
  connect(): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
  sendCommand(args: string[]): Promise<unknown>;
}

interface Known extends RedisServer {
  /** The number of the failover that made it the master. */
  epoch: number;
}

async function ask(client: SentinelClient, name: string): Promise<Known> {
  // An error of the connection rejects the calls too.
  client.on('error', () => {});
  try {
    await withinMs(connectMs, client.connect());
    // During a failover only the first response has the new address, and only the second one its number.
    const questions = ['GET-MASTER-ADDR-BY-NAME', 'MASTER'].map((about) =>
      client.sendCommand(['SENTINEL', about, name]),
    );
    const [address, fields] = (await withinMs(commandMs, Promise.all(questions))) as [string[], string[]];
    const [host = '', port] = address;
    return { host, port: Number(port), epoch: Number(fields[fields.indexOf('config-epoch') + 1]) };
  } finally {
    destroy(client);
  }
}

/**
 * Asks all Sentinels for the master, and believes the one that knows the latest failover: another one may have been cut off.
 * @param create returns a client of a Sentinel that is not connected
 * @throws the error of the first Sentinel if none knows the master
 */
export async function masterOf(
  sentinels: readonly RedisServer[],
  name: string,
  create: (sentinel: RedisServer) => SentinelClient,
): Promise<RedisServer> {
  const results = await Promise.allSettled(sentinels.map((sentinel) => ask(create(sentinel), name)));
  const known = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  const [latest] = known.toSorted((one, other) => other.epoch - one.epoch);
  if (latest !== undefined) return { host: latest.host, port: latest.port };
  const [first] = results as PromiseRejectedResult[];
  throw new Error(`Sentinel ${shown(sentinels[0] as RedisServer)}: ${first?.reason.message}`);
}
