// Runs gates with two hubs as processes, in real time, against the mock with the documented limits.
// npm run bench:hub [-- --gates 50 --duration 60 --only "one hub killed"]
// Each scenario takes about five minutes with fifty gates. Needs redis-server.
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startMock } from '../dist/index.js';
import { loadTypeScript } from './load-typescript.mjs';

const fleet = await loadTypeScript('hub-fleet.ts');
const bin = fileURLToPath(new URL('../bin/rungate.js', import.meta.url));

function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
}

async function until(holds) {
  while (!holds()) await pause(5);
}

const size = Number(option('gates', 50));
const duration = 1000 * Number(option('duration', 60));
const only = option('only', null);

const outcome = ['passed', 'passed', 'failed', 'passed', 'blocked', 'passed', 'cancelled'];

/** The faults before the hubs start, and those after half of the runs were created. */
const scenarios = {
  'no fault': {},
  'one hub killed': {
    async midway({ hubs }) {
      await hubs[0].kill();
    },
  },
  'Redis killed and restarted': {
    async midway({ redis, mock }) {
      await redis.kill();
      const created = mock.runs.length;
      await until(() => mock.runs.length >= Math.min(size, created + size / 10));
      await redis.restart();
    },
  },
  'Redis started late': {
    async before({ redis }) {
      await redis.kill();
    },
    async midway({ redis }) {
      await redis.restart();
    },
  },
  'both hubs killed': {
    async midway({ hubs }) {
      for (const hub of hubs) await hub.kill();
    },
  },
};

const seconds = (ms) => (ms / 1000).toFixed(1);

async function play({ before, midway }) {
  const outcomes = Array.from({ length: size }, (_, at) => outcome[at % outcome.length]);
  const { tenantSecret } = fleet;
  const mock = await startMock({
    ...{ rateLimit: 'documented', deliveries: 'loopback', tenantSecret, duration, outcome: outcomes },
  });
  const redis = await fleet.startRedis();
  await before?.({ redis });
  const hubs = [await fleet.startHub(bin, redis.url), await fleet.startHub(bin, redis.url)];
  const proxy = await fleet.startProxy(hubs.map(({ port }) => port));
  const began = Date.now();
  try {
    for (const hub of hubs) await fleet.register(mock, hub);
    const gates = Array.from({ length: size }, () => fleet.startGate(bin, mock, proxy.url));
    await until(() => mock.runs.length >= size / 2);
    await midway?.({ hubs, redis, mock });
    const results = await Promise.all(gates.map(({ ended }) => ended));
    const wrong = results.filter(({ code, runId }) => code !== fleet.expectedCode(mock, runId));
    const delays = results
      .map(({ endedAt, runId }) => endedAt - fleet.endOf(mock, runId))
      .toSorted((a, b) => a - b);
    const count = (endpoint) => mock.requests.filter((request) => request.endpoint === endpoint).length;
    return {
      wrong,
      cells: [
        `${size - wrong.length} of ${size}`,
        mock.runs.length,
        seconds(delays.reduce((sum, delay) => sum + delay, 0) / size),
        seconds(delays[Math.ceil(0.95 * size) - 1]),
        seconds(delays.at(-1)),
        (count('run.status') / size).toFixed(1),
        mock.requests.filter(({ status }) => status === 429).length,
        ((Date.now() - began) / 60_000).toFixed(1),
      ],
      fine: wrong.length === 0 && mock.runs.length === size,
    };
  } finally {
    proxy.close();
    for (const hub of hubs) await hub.kill();
    await redis.stop();
    await mock.close();
  }
}

console.log(
  '| after half of the creates | gates with the right exit code | runs | mean delay, s | 95 % delay, s | longest delay, s | reads a run | 429s | total, min |',
);
console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |');
for (const [name, scenario] of Object.entries(scenarios)) {
  if (only !== null && only !== name) continue;
  const { cells, fine, wrong } = await play(scenario);
  console.log(`| ${[name, ...cells].join(' | ')} |`);
  for (const { code, out, err } of wrong.slice(0, 3)) console.error(`exit code ${code}\n${out}${err}`);
  if (!fine) process.exitCode = 1;
}
