import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { freePort } from './free-port.ts';
import { until } from './until.ts';

/** Whether tests with nginx are skipped. `.ci/run` requires it. */
export const isNginxMissing = !process.env.REQUIRE_TOOLS && spawnSync('nginx', ['-v']).status !== 0;

/** Runs nginx until the test ends. Returns its URL. @param configOf returns the configuration for a port */
export async function startNginx(configOf: (port: number) => string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-nginx-'));
  const port = await freePort();
  // Where Debian's nginx writes needs its user.
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`);
  writeFileSync(join(folder, 'nginx.conf'), configOf(port).replace('http {', `http { ${paths.join(' ')}`));
  const own = `daemon off; pid ${join(folder, 'pid')}; error_log stderr emerg;`;
  const nginx = spawn('nginx', ['-c', join(folder, 'nginx.conf'), '-e', 'stderr', '-g', own], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const exited = once(nginx, 'exit');
  onTestFinished(async () => {
    nginx.kill('SIGTERM');
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const listens = () =>
    new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
  await until(listens);
  return `https://localhost:${port}`;
}
