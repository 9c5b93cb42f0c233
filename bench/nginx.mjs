import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

const docs = new URL('../docs/', import.meta.url);

/** Returns the documented configuration: a file, or the block in docs/how-to/hub.md with the settings that it lacks. */
function documented() {
  const file = new URL('hub/nginx.conf', docs);
  if (existsSync(file)) return readFileSync(file, 'utf8');
  const [, block] = /```nginx\n(.*?)```/s.exec(readFileSync(new URL('hub.md', docs), 'utf8'));
  return block.replace(/(server 127\.0\.0\.1:\d+);/g, '$1 max_fails=0;');
}

/** Returns the configuration for these ports, without TLS: the mock and the gates are on this machine. */
function configuration(folder, port, hubPorts) {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join('\n');
  const text = documented()
    .replace('127.0.0.1:4020', `127.0.0.1:${hubPorts[0]}`)
    .replace('127.0.0.1:4021', `127.0.0.1:${hubPorts[1]}`)
    .replace(/listen\s+443[^;]*;/, `listen 127.0.0.1:${port};`)
    .replace(/^\s*(ssl_|user |pid |error_log |access_log |include |listen \[|http2 ).*$/gm, '');
  const whole = /^\s*http\s*\{/m.test(text) ? text : `events { worker_connections 8192; }\nhttp {\n${text}}`;
  return whole.replace(/^\s*http\s*\{/m, `http {\naccess_log off;\n${paths}\n`);
}

const isListening = (port) =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });

/** Starts nginx with the documented configuration in front of two hubs. */
export async function startNginx(port, hubPorts) {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-nginx-'));
  const file = join(folder, 'nginx.conf');
  writeFileSync(file, configuration(folder, port, hubPorts));
  let nginx;
  let exited;
  const start = async () => {
    const args = ['-c', file, '-e', join(folder, 'errors'), '-g', `daemon off; pid ${join(folder, 'pid')};`];
    nginx = spawn('nginx', args, { stdio: ['ignore', 'ignore', 'inherit'] });
    exited = new Promise((resolve) => nginx.once('exit', resolve));
    while (!(await isListening(port))) {
      if (nginx.exitCode !== null) throw new Error(readFileSync(join(folder, 'errors'), 'utf8'));
      await pause(20);
    }
  };
  const end = async () => {
    nginx.kill('SIGTERM');
    await exited;
  };
  await start();
  return {
    url: `http://127.0.0.1:${port}`,
    async restart() {
      await end();
      await start();
    },
    async stop() {
      await end();
      rmSync(folder, { recursive: true });
    },
  };
}
