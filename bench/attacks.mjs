// Measures the peak memory of commands attacked by a hostile service, sender or forward target. Fails above the aim.
// npm run bench:attacks [-- --only <part of a name>]
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../bin/rungate.js', import.meta.url));
const peak = fileURLToPath(new URL('peak.cjs', import.meta.url));
const aimMib = 200;
const longestMs = 30_000;
const secret = 'webhook-Secret-0123456789';

const mib = 1024 * 1024;
/** Just below the maximum size of a response. */
const large = 15.9 * mib;
/** Chunks of one byte each, as sent over the network. */
const oneByteChunks = Buffer.from('1\r\n0\r\n'.repeat(100_000));

const repeated = (part, bytes) => part.repeat(Math.floor(bytes / Buffer.byteLength(part)));
const names = (bytes) => {
  let text = '{';
  for (let at = 0; text.length < bytes - 20; at += 1) text += `"k${at}":0,`;
  return `${text}"end":0}`;
};
const json = { 'content-type': 'application/json' };

/** Responds to every request with one text. */
const respondWith = (text, status = 200) => {
  const body = Buffer.from(text());
  return (_request, response) => response.writeHead(status, json).end(body);
};

/** Sends one-byte chunks until the connection closes. */
function drip(socket) {
  const more = () => {
    while (socket.writable && socket.write(oneByteChunks));
  };
  socket.on('drain', more).on('error', () => {});
  more();
}

function dripResponse(_request, { socket }) {
  socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n');
  drip(socket);
}

const bodies = {
  'one-byte chunks without an end': () => dripResponse,
  '15.9 MiB of {}': () => respondWith(() => `[${repeated('{},', large)}{}]`),
  '15.9 MiB of 0': () => respondWith(() => `[${repeated('0,', large)}0]`),
  '15.9 MiB of strings': () => respondWith(() => `[${repeated('"ab",', large)}""]`),
  '15.9 MiB of names': () => respondWith(() => names(large)),
  '15.9 MiB in one string': () => respondWith(() => `[{"id":"${repeated('x', large)}"}]`),
  '15.9 MiB in one string, not Latin': () => respondWith(() => `[{"id":"${repeated('\u4e2d', large)}"}]`),
  '400 with a page of 15.9 MiB': () => respondWith(() => `<html>${repeated('<title', large)}`, 400),
  '400 with 15.9 MiB of {}': () => respondWith(() => `{"error":[${repeated('{},', large)}{}]}`, 400),
};
const commands = {
  'run wait': ['run', 'wait', 'run_1', '--timeout', '10s'],
  'run trigger': ['run', 'trigger', '--project', 'p', '--process', 'q', '--wait', '--timeout', '10s'],
  'orders list': ['orders', 'list'],
  'env list --all': ['env', 'list', '--all'],
};

async function listening(server) {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server.address().port;
}

/** Returns the peak memory of a running process in KiB (Linux only). */
const peakOf = (pid) => Number(/VmHWM:\s*(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** Starts the built program and stops it after 30 s. `ended` resolves to its memory in MiB, seconds and exit code. */
function start(args, env) {
  const began = performance.now();
  const child = spawn(process.execPath, ['--require', peak, bin, ...args], {
    env: { ...process.env, CI: undefined, ...env },
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
  });
  let [err, kib] = ['', ''];
  child.stderr.on('data', (text) => {
    err = (err + text).slice(0, 10_000);
  });
  child.stdio[3].on('data', (text) => {
    kib = Number(text);
  });
  const stop = () => {
    kib = peakOf(child.pid);
    child.kill('SIGTERM');
  };
  const stopper = setTimeout(stop, longestMs);
  const killer = setTimeout(() => child.kill('SIGKILL'), 2 * longestMs);
  const ended = once(child, 'close').then(([code, signal]) => {
    clearTimeout(stopper);
    clearTimeout(killer);
    const seconds = (performance.now() - began) / 1000;
    return { mib: kib === '' ? Number.POSITIVE_INFINITY : kib / 1024, seconds, end: signal ?? code };
  });
  return { child, stop, ended, err: () => err };
}

async function fromService(handler, args) {
  const server = createServer(handler);
  const url = `http://127.0.0.1:${await listening(server)}`;
  const { ended } = start(args, {
    RUNGATE_API_URL: url,
    RUNGATE_API_KEY: 'key-0123456789',
    RUNGATE_TOKEN: 'token-0123456789',
  });
  const result = await ended;
  server.closeAllConnections();
  server.close();
  return result;
}

function signed(body) {
  const timestamp = new Date().toISOString();
  const mac = createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('hex');
  return `X-Service-Timestamp: ${timestamp}\r\nX-Service-Signature: sha256=${mac}\r\n`;
}

/** Attacks `webhooks listen` over several connections until all have a response or the time is over. */
async function onListener(senders, attack, { args = [], ms = 15_000 } = {}) {
  const run = start(['webhooks', 'listen', '--port', '0', ...args], { RUNGATE_WEBHOOK_SECRET: secret });
  while (!/listening at/.test(run.err())) await once(run.child.stderr, 'data');
  const port = Number(/listening at \S+:(\d+);/.exec(run.err())[1]);
  const sockets = Array.from({ length: senders }, () => connect(port, '127.0.0.1'));
  const closed = Promise.all(
    sockets.map((socket) => new Promise((resolve) => socket.on('error', () => {}).once('close', resolve))),
  );
  for (const socket of sockets) attack(socket.resume());
  await Promise.race([closed, new Promise((resolve) => setTimeout(resolve, ms))]);
  run.stop();
  const result = await run.ended;
  for (const socket of sockets) socket.destroy();
  return result;
}

const post = (more) => `POST / HTTP/1.1\r\nHost: x\r\n${more}\r\n`;

function dripPost(socket) {
  socket.write(post('Transfer-Encoding: chunked\r\n'));
  drip(socket);
}

const whole =
  (body, headers = '') =>
  (socket) => {
    socket.write(post(`${headers}Connection: close\r\nContent-Length: ${body.length}\r\n`));
    socket.write(body);
  };

async function throughForward() {
  const target = createServer(dripResponse);
  const port = await listening(target);
  const body = Buffer.from('{}');
  const args = ['--forward-to', `http://127.0.0.1:${port}`];
  const result = await onListener(4, whole(body, signed(body)), { args });
  target.closeAllConnections();
  target.close();
  return result;
}

const attacks = [
  ...Object.entries(bodies).flatMap(([body, handler]) =>
    Object.entries(commands).map(([command, args]) => [
      `${command}: ${body}`,
      () => fromService(handler(), args),
    ]),
  ),
  ['webhooks listen: 4 senders of one-byte chunks', () => onListener(4, dripPost)],
  ['webhooks listen: 10 senders of one-byte chunks', () => onListener(10, dripPost)],
  ['webhooks listen: 10 senders of 10 MiB', () => onListener(10, whole(Buffer.alloc(10 * mib)))],
  [
    'webhooks listen: 10 senders that never finish',
    () =>
      onListener(
        10,
        (socket) => {
          socket.write(post(`Content-Length: ${10 * mib}\r\n`));
          socket.write(Buffer.alloc(10 * mib - 1));
        },
        { ms: 5000 },
      ),
  ],
  [
    'webhooks listen: 4 authentic deliveries, 10 MiB of {}',
    () => {
      const body = Buffer.from(`[${repeated('{},', 10 * mib - 8)}{}]`);
      return onListener(4, whole(body, signed(body)));
    },
  ],
  ['webhooks listen: a forward target that sends one-byte chunks', throughForward],
];

const only = process.argv.indexOf('--only');
const wanted = only < 0 ? '' : process.argv[only + 1];
let worst = 0;
console.log('| attack | peak MiB | seconds | exit code |\n|---|---:|---:|---:|');
for (const [name, attack] of attacks.filter(([name]) => name.includes(wanted))) {
  const { mib: used, seconds, end } = await attack();
  worst = Math.max(worst, used);
  console.log(`| ${name} | ${used.toFixed(0)} | ${seconds.toFixed(1)} | ${end} |`);
}
console.log(`\nThe aim is less than ${aimMib} MiB each; the maximum was ${worst.toFixed(0)} MiB.`);
process.exitCode = worst < aimMib ? 0 : 1;
