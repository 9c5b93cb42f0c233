import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Starts three sentinels that watch a Redis server under the name `hubs`. @param ports three free ports */
export async function startSentinels(ports, redisPort) {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-sentinels-'));
  const children = [];
  for (const port of ports) {
    const file = join(folder, `${port}.conf`);
    const settings = [
      ...[`port ${port}`, 'bind 127.0.0.1', `dir ${folder}`],
      `sentinel monitor hubs 127.0.0.1 ${redisPort} 2`,
      ...['sentinel down-after-milliseconds hubs 3000', 'sentinel failover-timeout hubs 10000'],
    ];
    writeFileSync(file, `${settings.join('\n')}\n`);
    const child = spawn('redis-sentinel', [file], { stdio: ['ignore', 'pipe', 'inherit'] });
    children.push(child);
    let shown = '';
    while (!shown.includes('+monitor')) shown += String((await once(child.stdout, 'data'))[0]);
    child.stdout.resume();
  }
  return {
    hosts: ports.map((port) => `127.0.0.1:${port}`).join(','),
    async stop() {
      await Promise.all(
        children.map(async (child) => {
          const exit = once(child, 'exit');
          child.kill('SIGKILL');
          await exit;
        }),
      );
      rmSync(folder, { recursive: true });
    },
  };
}
