import { createClient } from '@redis/client';
import { Redis } from 'ioredis';
import { createClient as createClient4 } from 'redis4';
import type { RedisClient } from '../../src/webhook/replay.ts';

interface Connected {
  client: RedisClient;
  close(): Promise<unknown>;
}

/** The supported clients; `@redis/client` is the core of the package `redis`. */
const kinds = {
  async 'node-redis 4'(port: number): Promise<Connected> {
    const client = createClient4({ socket: { host: '127.0.0.1', port } });
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: () => client.quit() };
  },
  async 'node-redis 6'(port: number): Promise<Connected> {
    const client = createClient({ socket: { host: '127.0.0.1', port } });
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: () => client.close() };
  },
  async ioredis(port: number): Promise<Connected> {
    const client = new Redis({ host: '127.0.0.1', port, lazyConnect: true });
    client.on('error', () => undefined);
    await client.connect();
    return { client, close: () => client.quit() };
  },
};

export type ClientKind = keyof typeof kinds;
export const clientKinds = Object.keys(kinds) as ClientKind[];
export const connectRedis = (kind: ClientKind, port: number): Promise<Connected> => kinds[kind](port);
