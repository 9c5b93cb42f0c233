// Whole processes, in turn, many times: what a pipeline pays for one question to the service.
// npm run bench [-- --runs 25]
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../bin/rungate.js', import.meta.url));
const asked = process.argv.indexOf('--runs');
const runs = asked < 0 ? 21 : Number(process.argv[asked + 1]);

const status = JSON.stringify({
  state: 'completed',
  failed: 0,
  blocked: 0,
  appUrl: 'https://app.example.test/r',
});
const server = createServer((_request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(status);
});
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const url = `http://127.0.0.1:${server.address().port}`;
const env = { ...process.env, RUNGATE_API_URL: url, RUNGATE_API_KEY: 'rg_bench' };

const fetchScript = `const r = await fetch('${url}/api/ci/runs/run_1', { headers: { 'x-api-key': 'rg_bench' } });
const run = await r.json();
process.exitCode = run.failed > 0 || run.blocked > 0 ? 1 : 0;`;
const httpScript = `import http from 'node:http';
http.get('${url}/api/ci/runs/run_1', { headers: { 'x-api-key': 'rg_bench' }, agent: false }, (r) => {
  let text = '';
  r.on('data', (chunk) => { text += chunk; });
  r.on('end', () => { const run = JSON.parse(text); process.exitCode = run.failed > 0 || run.blocked > 0 ? 1 : 0; });
});`;

/** The commands, each under its name. */
const commands = {
  'node -e 0': ['-e', '0'],
  'fetch script': ['--input-type=module', '-e', fetchScript],
  'node:http script': ['--input-type=module', '-e', httpScript],
  'rungate --version': [bin, '--version'],
  'rungate run wait': [bin, 'run', 'wait', 'run_1', '--quiet'],
};

function time(args) {
  return new Promise((resolve, reject) => {
    const began = process.hrtime.bigint();
    const child = spawn(process.execPath, args, { env, stdio: 'ignore' });
    child.once('error', reject);
    child.once('exit', (code) => {
      if (code !== 0) reject(new Error(`exit ${code}: ${args.join(' ')}`));
      resolve(Number(process.hrtime.bigint() - began) / 1e6);
    });
  });
}

const times = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
for (const args of Object.values(commands)) await time(args);
for (let i = 0; i < runs; i += 1) {
  for (const [name, args] of Object.entries(commands)) times[name].push(await time(args));
}
server.close();

function quantile(values, q) {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.round((sorted.length - 1) * q)];
}
const median = (values) => quantile(values, 0.5);
const ratio = (a, b) => (median(times[a]) / median(times[b])).toFixed(2);

console.log(`${runs} runs of each, in turn; Node ${process.version}; milliseconds, whole process`);
console.log('| command | median | 10 % | 90 % | × node -e 0 | × fetch | × node:http |');
console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |');
for (const name of Object.keys(commands)) {
  const of = times[name];
  const figures = [median(of), quantile(of, 0.1), quantile(of, 0.9)].map((ms) => ms.toFixed(0));
  const ratios = ['node -e 0', 'fetch script', 'node:http script'].map((base) => ratio(name, base));
  console.log(`| ${name} | ${[...figures, ...ratios].join(' | ')} |`);
}
