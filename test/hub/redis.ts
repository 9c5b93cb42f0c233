import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from '@redis/client';
import { freePort } from '../free-port.ts';

/** `.ci/run` requires Redis. Elsewhere, tests that need it are skipped without it. */
export const isRedisMissing =
  !process.env.REQUIRE_TOOLS && spawnSync('redis-server', ['--version']).status !== 0;

/** A Redis server that keeps nothing on disk. */
export interface TestRedis {
  readonly port: number;
  readonly url: string;
  kill(): Promise<void>;
  /** Starts it again at the same port, empty. */
  restart(): Promise<void>;
  /** Stops the process, so that it does not respond until `thaw`. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

/** Starts a server, and waits until it has written a text. */
async function startServer(
  argsIn: (directory: string) => string[],
  host: string,
  port: number,
  readyText: string,
): Promise<TestRedis> {
  const directory = mkdtempSync(join(tmpdir(), 'rungate-redis-'));
  const args = argsIn(directory);
  let child: ChildProcess;
  const start = async () => {
    child = spawn('redis-server', args, { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
      child.stdout?.on('data', (text: Buffer) => {
        if (text.includes(readyText)) resolve();
      });
    });
  };
  const kill = async () => {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  };
  await start();
  return {
    port,
    url: `redis://${host}:${port}`,
    kill,
    restart: start,
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    async stop() {
      child.kill('SIGCONT');
      if (child.exitCode === null && child.signalCode === null) await kill();
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** @param settings arguments of redis-server, such as a password */
export async function startRedis(
  settings: readonly string[] = [],
  host = '127.0.0.1',
  atPort?: number,
): Promise<TestRedis> {
  const port = atPort ?? (await freePort());
  const own = ['--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0', ...settings];
  const args = (directory: string) => ['--bind', host, '--port', String(port), '--dir', directory, ...own];
  return startServer(args, host, port, 'Ready to accept connections');
}

/** Starts a Sentinel that takes a master for down after half a second. @param settings lines of its configuration */
export async function startSentinel(
  name: string,
  masterPort: number,
  settings: readonly string[] = [],
): Promise<TestRedis> {
  const port = await freePort();
  const args = (directory: string) => {
    const file = join(directory, 'sentinel.conf');
    const lines = [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir ${directory}`,
      `sentinel monitor ${name} 127.0.0.1 ${masterPort} 2`,
      `sentinel down-after-milliseconds ${name} 500`,
      `sentinel failover-timeout ${name} 5000`,
      ...settings,
    ];
    writeFileSync(file, lines.join('\n'));
    return [file, '--sentinel'];
  };
  return startServer(args, '127.0.0.1', port, `monitor master ${name}`);
}

/** Sends one command over a separate connection. */
export async function redisCommand(url: string, ...args: string[]): Promise<unknown> {
  const client = createClient({ url, socket: { reconnectStrategy: false } });
  // A failover closes the connections; the call is rejected too.
  client.on('error', () => {});
  try {
    await client.connect();
    return await client.sendCommand(args);
  } finally {
    client.destroy();
  }
}

/** Makes one server a replica of another one, and waits until it has its data. */
export async function replicate(replica: TestRedis, master: TestRedis): Promise<void> {
  await redisCommand(replica.url, 'REPLICAOF', new URL(master.url).hostname, String(master.port));
  for (;;) {
    const [, , , state] = (await redisCommand(replica.url, 'ROLE')) as unknown[];
    if (state === 'connected') return;
  }
}
