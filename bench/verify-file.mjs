// Compares `rungate webhooks verify` for a large file with a bare Node stream into createHmac: whole processes, in turn.
// npm run bench:verify [-- --runs 7 --mib 1024]
import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { createReadStream, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../bin/rungate.js', import.meta.url));
const number = (name, otherwise) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
};
const runs = number('--runs', 7);
const mib = number('--mib', 1024);

const secret = 'bench-secret-0123456789';
const timestamp = '2026-01-15T12:00:00.000Z';
const folder = mkdtempSync(join(tmpdir(), 'rungate-bench-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));

/** Writes a file of real bytes: a sparse file would be read faster than any disk. */
function makeFile(megabytes) {
  const path = join(folder, `${megabytes}.bin`);
  const file = openSync(path, 'w');
  const block = Buffer.alloc(1024 * 1024);
  for (let at = 0; at < block.length; at += 1) block[at] = (at * 31 + (at >> 8)) & 255;
  for (let written = 0; written < megabytes; written += 1) writeSync(file, block);
  return path;
}

async function sign(path) {
  const hmac = createHmac('sha256', secret).update(`${timestamp}.`);
  for await (const chunk of createReadStream(path)) hmac.update(chunk);
  return `sha256=${hmac.digest('hex')}`;
}

/** Returns a script that calculates the same HMAC and compares it, nothing else. */
const bare = (option) => `import { createHmac, timingSafeEqual } from 'node:crypto';
import { createReadStream } from 'node:fs';
const [path, signature] = process.argv.slice(1);
const hmac = createHmac('sha256', '${secret}').update('${timestamp}.');
createReadStream(path${option}).on('data', (chunk) => hmac.update(chunk)).on('end', () => {
  process.exitCode = timingSafeEqual(hmac.digest(), Buffer.from(signature.slice(7), 'hex')) ? 0 : 1;
});`;

const report = `data:text/javascript,process.on('exit',()=>console.error('RSS='+process.resourceUsage().maxRSS))`;

function measure(args) {
  return new Promise((resolve, reject) => {
    const began = process.hrtime.bigint();
    const child = spawn(process.execPath, ['--import', report, ...args], {
      env: { ...process.env, RUNGATE_WEBHOOK_SECRET: secret },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let err = '';
    child.stderr.on('data', (chunk) => {
      err += chunk;
    });
    child.once('error', reject);
    child.once('close', (code) => {
      if (code !== 0) reject(new Error(`exit ${code}: ${err}`));
      const ms = Number(process.hrtime.bigint() - began) / 1e6;
      resolve({ ms, rss: Number(/RSS=(\d+)/.exec(err)?.[1]) / 1024 });
    });
  });
}

const large = makeFile(mib);
const eighth = makeFile(mib / 8);
const small = makeFile(1);
const signatures = {};
for (const path of [large, eighth, small]) signatures[path] = await sign(path);

const verify = (path) => [
  bin,
  'webhooks',
  'verify',
  '--body-file',
  path,
  '--timestamp',
  timestamp,
  '--signature',
  signatures[path],
];
const stream = (path, option = '') => ['--input-type=module', '-e', bare(option), path, signatures[path]];

const commands = {
  'bare stream': stream(large),
  'bare stream, 256 KiB at a time': stream(large, ', { highWaterMark: 262144 }'),
  'rungate webhooks verify': verify(large),
  [`rungate webhooks verify, ${mib / 8} MiB file`]: verify(eighth),
  'bare stream, 1 MiB file': stream(small),
  'rungate webhooks verify, 1 MiB file': verify(small),
};

const results = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
for (const args of Object.values(commands)) await measure(args);
for (let run = 0; run < runs; run += 1) {
  for (const [name, args] of Object.entries(commands)) results[name].push(await measure(args));
}

const sorted = (name, field) => results[name].map((one) => one[field]).toSorted((a, b) => a - b);
const median = (name, field) => sorted(name, field)[Math.floor((runs - 1) / 2)];

console.log(`${runs} runs of each, in turn; Node ${process.version}; whole processes; ${mib} MiB`);
console.log('| command | median ms | min | max | MiB/s | peak RSS, MiB |');
console.log('| --- | ---: | ---: | ---: | ---: | ---: |');
for (const name of Object.keys(commands)) {
  const times = sorted(name, 'ms');
  const rate = name.includes('MiB file') ? '' : (mib / (median(name, 'ms') / 1000)).toFixed(0);
  const figures = [median(name, 'ms'), times[0], times.at(-1)].map((ms) => ms.toFixed(0));
  console.log(`| ${name} | ${figures.join(' | ')} | ${rate} | ${median(name, 'rss').toFixed(0)} |`);
}
const ratio = (base) => (median(base, 'ms') / median('rungate webhooks verify', 'ms')).toFixed(2);
console.log(`\nrate relative to the bare stream: ${ratio('bare stream')}`);
console.log(
  `rate relative to the bare stream with chunks of our size: ${ratio('bare stream, 256 KiB at a time')}`,
);
const grown = (from, to) => (median(to, 'rss') - median(from, 'rss')).toFixed(0);
const [ours, bareSmall] = ['rungate webhooks verify', 'bare stream, 1 MiB file'];
console.log(
  `peak memory, ${mib} MiB compared with ${mib / 8} MiB: ${grown(`${ours}, ${mib / 8} MiB file`, ours)} MiB more`,
);
console.log(
  `peak memory, ${mib} MiB compared with 1 MiB: ${grown(`${ours}, 1 MiB file`, ours)} MiB more (bare stream: ${grown(bareSmall, 'bare stream')})`,
);
