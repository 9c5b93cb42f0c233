import { ConfigError } from '../errors.ts';
import type { RedisServer } from './redis-address.ts';

/** A command that takes longer has failed. */
export const commandMs = 1_000;
/** Connecting to a server takes at most this long. */
export const connectMs = 2_000;

export class RedisTimeout extends Error {}

/** The client limits only the time until it has sent a command. */
export async function withinMs<Value>(ms: number, command: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const timeUp = new Promise<never>((_, reject) => {
    const fail = () => reject(new RedisTimeout(`Redis did not respond within ${ms / 1000} s`));
    // A response that arrived while the process was busy is read first.
    timer = setTimeout(() => setImmediate(fail), ms);
  });
  try {
    return await Promise.race([command, timeUp]);
  } finally {
    clearTimeout(timer);
  }
}

/** The part of a client that a session uses. It must not reconnect by itself. */
export interface SingleClient {
  connect(): Promise<unknown>;
  destroy(): void;
  hello(): Promise<unknown>;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

export function destroy(client: { destroy(): void }): void {
  try {
    client.destroy();
  } catch {
    // Version 5 throws if the client is closed already.
  }
}

/** Two connections to one server: a blocking read would hold up every other command on its own. */
export interface Session<Client> {
  readonly server: RedisServer;
  readonly commands: Client;
  readonly reader: Client;
  /** Aborted with the reason when the session ends. */
  readonly ended: AbortSignal;
  end(reason: unknown): void;
}

export const shown = ({ host, port }: RedisServer) => `${host.includes(':') ? `[${host}]` : host}:${port}`;

/** @throws ConfigError if the server can never be used, and an error if it is not the master */
function checkServer(server: RedisServer, { mode, role }: { mode?: unknown; role?: unknown }): void {
  const at = shown(server);
  if (mode === 'cluster') {
    throw new ConfigError(`hub: Redis Cluster is not supported: ${at}`, {
      hint: 'use one Redis server, or a master with replicas and Sentinel',
    });
  }
  if (mode === 'sentinel') {
    throw new ConfigError(`hub: the URL of Redis names a Sentinel: ${at}`, {
      hint: `write it as redis-sentinel://${at}#<name of the master>`,
    });
  }
  if (role === 'replica' || role === 'slave') throw new Error(`the Redis server is a replica: ${at}`);
}

/**
 * Connects to a server, and checks that it is a master.
 * @param create returns a client that is not connected
 */
export async function openSession<Client extends SingleClient>(
  server: RedisServer,
  create: (server: RedisServer) => Client,
): Promise<Session<Client>> {
  const ended = new AbortController();
  const [commands, reader] = [create(server), create(server)];
  const end = (reason: unknown) => {
    if (ended.signal.aborted) return;
    ended.abort(reason);
    for (const client of [commands, reader]) destroy(client);
  };
  const open = async (client: Client) => {
    // Without a listener the first lost connection would end the process.
    client.on('error', end);
    const connected = client.connect();
    // A client that is destroyed while it connects may connect nevertheless.
    const closeLate = () => ended.signal.aborted && destroy(client);
    connected.then(closeLate, closeLate);
    await withinMs(connectMs, connected);
    checkServer(server, (await withinMs(commandMs, client.hello())) as object);
  };
  try {
    await Promise.all([open(commands), open(reader)]);
  } catch (error) {
    end(error);
  }
  ended.signal.throwIfAborted();
  return { server, commands, reader, ended: ended.signal, end };
}
