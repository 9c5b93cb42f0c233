import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
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

/** @param settings arguments of redis-server, such as a password */
export async function startRedis(settings: readonly string[] = []): Promise<TestRedis> {
  const directory = mkdtempSync(join(tmpdir(), 'rungate-redis-'));
  const port = await freePort();
  let child: ChildProcess;
  const start = async () => {
    const args = ['--bind', '127.0.0.1', '--port', String(port), '--dir', directory];
    child = spawn('redis-server', [...args, '--save', '', '--appendonly', 'no', ...settings], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    await new Promise<void>((resolve, reject) => {
      child.once('error', reject);
      child.once('exit', (code) => reject(new Error(`redis-server ended with ${code}`)));
      child.stdout?.on('data', (text: Buffer) => {
        if (text.includes('Ready to accept connections')) resolve();
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
