// Redis, two hubs, and nginx in front of them, as processes.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';

/** Returns the documented configuration of nginx for these ports, without TLS: the gates are on this machine. */
function configuration(folder, port, hubPorts) {
  const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  const paths = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join('\n');
  return readFileSync(new URL('../docs/hub/nginx.conf', import.meta.url), 'utf8')
    .replace('127.0.0.1:4020', `127.0.0.1:${hubPorts[0]}`)
    .replace('127.0.0.1:4021', `127.0.0.1:${hubPorts[1]}`)
    .replace(/listen\s+443[^;]*;/, `listen 127.0.0.1:${port};`)
    .replace(/^\s*(ssl_|user |pid |error_log |access_log |include |listen \[|http2 ).*$/gm, '')
    .replace(/^\s*http\s*\{/m, `http {\naccess_log off;\n${paths}\n`);
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

async function startNginx(port, hubPorts) {
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

/** Starts a replica and three Sentinels. Returns the URL of the hubs. */
async function startSentinels(fleet, redis, keep) {
  await fleet.replicate(keep(await fleet.startRedis()), redis);
  const hosts = [];
  for (let nth = 0; nth < 3; nth += 1) {
    const { port } = keep(await fleet.startSentinel('hubs', redis.port));
    hosts.push(`127.0.0.1:${port}`);
  }
  return `redis-sentinel://${hosts.join(',')}#hubs`;
}

/** Starts everything that a scenario needs. @param bin the built program */
export async function startServers(fleet, bin, { sentinel = false }) {
  const stops = [];
  const keep = (server) => {
    stops.unshift(() => server.stop());
    return server;
  };
  const redis = keep(await fleet.startRedis());
  const url = sentinel ? await startSentinels(fleet, redis, keep) : redis.url;
  const start = (port) => fleet.startHub(bin, url, port);
  const hubs = [await start(), await start()];
  stops.unshift(async () => {
    for (const hub of hubs) hub.thaw();
    await Promise.all(hubs.map((hub) => hub.kill()));
  });
  const ports = hubs.map(({ port }) => port);
  const nginx = keep(await startNginx(await fleet.freePort(), ports));
  return {
    redis,
    hubs,
    nginx,
    start,
    async stop() {
      for (const stop of stops) await stop();
    },
  };
}
