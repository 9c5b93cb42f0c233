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
async function startServer(argsAt: (directory: string, port: number) => string[], readyText: string) {
  const directory = mkdtempSync(join(tmpdir(), 'rungate-redis-'));
  const port = await freePort();
  const args = argsAt(directory, port);
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
    url: `redis://127.0.0.1:${port}`,
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

/**
 * @param settings arguments of redis-server, such as a password
 * @param readyText what the server writes when it can be used
 */
export const startRedis = (
  settings: readonly string[] = [],
  readyText = 'Ready to accept connections',
): Promise<TestRedis> =>
  startServer((directory, port) => {
    const at = ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory];
    return [...at, '--save', '', '--appendonly', 'no', '--repl-diskless-sync-delay', '0', ...settings];
  }, readyText);

/** Starts a Sentinel that takes a master for down after half a second. @param settings lines of its configuration */
export const startSentinel = (
  name: string,
  masterPort: number,
  quorum: number,
  settings: readonly string[] = [],
): Promise<TestRedis> =>
  startServer((directory, port) => {
    const file = join(directory, 'sentinel.conf');
    const lines = [
      'bind 127.0.0.1',
      `port ${port}`,
      `dir ${directory}`,
      `sentinel monitor ${name} 127.0.0.1 ${masterPort} ${quorum}`,
      `sentinel down-after-milliseconds ${name} 500`,
      `sentinel failover-timeout ${name} 2000`,
      ...settings,
    ];
    writeFileSync(file, lines.join('\n'));
    return [file, '--sentinel'];
  }, `monitor master ${name}`);

/** Sends one command over a connection of its own. */
export async function redisCommand(url: string, ...args: string[]): Promise<unknown> {
  const client = createClient({ url });
  await client.connect();
  try {
    return await client.sendCommand(args);
  } finally {
    client.destroy();
  }
}

/** Makes one server a replica of another one, and waits until it has its data. */
export async function replicate(replica: TestRedis, master: TestRedis): Promise<void> {
  await redisCommand(replica.url, 'REPLICAOF', '127.0.0.1', String(master.port));
  for (;;) {
    const [, , , state] = (await redisCommand(replica.url, 'ROLE')) as string[];
    if (state === 'connected') return;
  }
}
