// Measures what the hub needs: the memory of its process with idle streams, and the processor time for 200 deliveries a second.
// npm run build && node bench/hub-memory.mjs
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sign } from '../dist/webhook/node.js';

const secret = 'whook-Secret-0123456789';
const token = 'token-of-the-gates-0123456789';
const bin = fileURLToPath(new URL('../bin/rungate.js', import.meta.url));
const hub = spawn(process.execPath, [bin, 'hub', '--port', '0', ...process.argv.slice(2)], {
  env: { ...process.env, RUNGATE_HUB_TOKEN: token, RUNGATE_WEBHOOK_SECRET: secret },
  stdio: ['ignore', 'pipe', 'inherit'],
});
let log = '';
hub.stdout.on('data', (part) => {
  if (log.length < 1000) log += part;
});
while (!log.includes('listening')) await pause(20);
const [, port] = /127\.0\.0\.1:(\d+)/.exec(log);

const memory = () => {
  const kilobytes = Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${hub.pid}/status`, 'utf8'))[1]);
  return `${Math.round(kilobytes / 1000)} MB`;
};
/** The processor time so far, in seconds; a tick is 10 ms. */
const cpu = () => {
  const fields = readFileSync(`/proc/${hub.pid}/stat`, 'utf8')
    .replace(/^.*\) /, '')
    .split(' ');
  return (Number(fields[11]) + Number(fields[12])) / 100;
};
async function measure(name, seconds, work) {
  const [began, before] = [performance.now(), cpu()];
  await work(seconds);
  const share = (cpu() - before) / ((performance.now() - began) / 1000);
  console.log(`${name}: ${memory()}, ${(100 * share).toFixed(1)} % of a core`);
}
const idle = (seconds) => pause(seconds * 1000);

let open = 0;
async function streams(count) {
  for (; open < count; open += 1) {
    const sent = request({
      port,
      path: '/v1/wakes',
      method: 'POST',
      agent: false,
      headers: { Authorization: `Bearer ${token}` },
    });
    sent.end(JSON.stringify({ runs: [`run_${open}`] }));
    const [response] = await once(sent, 'response');
    if (response.statusCode !== 200) throw new Error(`status code ${response.statusCode}`);
    response.resume();
  }
}

const agent = new Agent({ keepAlive: true });
async function deliver(at) {
  const body = JSON.stringify({ event: 'run.completed', runId: `run_${at % 2000}`, at });
  const { timestamp, signature } = await sign({ body, secret });
  const headers = { 'X-Service-Timestamp': timestamp, 'X-Service-Signature': signature };
  const sent = request({ port, path: '/deliveries', method: 'POST', agent, headers });
  sent.end(body);
  const [response] = await once(sent, 'response');
  response.resume();
  if (response.statusCode !== 204) throw new Error(`status code ${response.statusCode}`);
}
async function deliveries(seconds) {
  const sent = [];
  const began = performance.now();
  for (let at = 0; at < 200 * seconds; at += 1) {
    await pause(Math.max(0, began + at * 5 - performance.now()));
    sent.push(deliver(at));
  }
  await Promise.all(sent);
}

await measure('0 streams', 10, idle);
for (const count of [500, 2000]) {
  await streams(count);
  await measure(`${count} streams`, 20, idle);
}
await measure('2000 streams, 200 deliveries a second', 20, deliveries);
hub.kill();
process.exit();
