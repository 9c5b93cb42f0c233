// Runs gates with two hubs as processes, in real time: nginx, Redis, and the mock with the documented limits and webhooks.
// npm run bench:hub [-- --only "one hub killed" --gates 6 --duration 20 --warm-up 63 --write]
// All scenarios take about an hour. Needs redis-server, redis-cli and nginx.
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startMock } from '../dist/index.js';
import { atMost, has, loadTypeScript, mean, option, writeBetween } from './harness.mjs';
import { scenarios } from './hub-scenarios.mjs';
import { startServers } from './hub-servers.mjs';

const fleet = await loadTypeScript('hub-fleet.ts');
const { simulateGates, slidingMinute } = await loadTypeScript('fleet-simulation.ts');
const bin = fileURLToPath(new URL('../bin/rungate.js', import.meta.url));

const second = 1000;
const durationMs = second * Number(option('duration', 60));
/** A hub grants less in its first minute. */
const warmUpMs = second * Number(option('warm-up', 63));
const startWithinMs = 10_000;
const endings = ['passed', 'passed', 'failed', 'passed', 'blocked', 'passed', 'cancelled'];

async function until(holds) {
  while (!holds()) await pause(20);
}

const delaysOf = (values) => ({ mean: mean(values), slow: atMost(values, 0.95), slowest: atMost(values, 1) });

/** Returns how many 429s the mock sent, and how many of them to gates whose run was created before the fault. */
function refusalsOf(mock, faultAt) {
  const created = mock.requests.filter(
    ({ endpoint, status }) => endpoint === 'run.trigger' && status === 201,
  );
  const createdAt = new Map(created.map(({ at }, nth) => [mock.runs[nth]?.runId, at]));
  const refused = mock.requests.filter(({ status }) => status === 429);
  const withPlace = refused.filter(({ path }) => createdAt.get(/\/(run_[^/]+)/.exec(path)?.[1]) < faultAt);
  return { refused: refused.length, refusedWithPlace: withPlace.length };
}

/** Plays a scenario to the end of the last gate. */
async function play(scenario, servers) {
  const size = scenario.gates;
  const outcomes = Array.from({ length: size }, (_, at) => endings[at % endings.length]);
  const mock = await startMock({
    rateLimit: 'documented',
    deliveries: 'loopback',
    tenantSecret: fleet.tenantSecret,
    duration: durationMs,
    outcome: outcomes,
  });
  const began = Date.now();
  let faultAt = Number.POSITIVE_INFINITY;
  const tools = { ...servers, mock, size, outcomes, until };
  try {
    await fleet.register(mock, servers.nginx);
    scenario.deliveries?.(mock);
    const started = Array.from({ length: size }, async (_, at) => {
      await pause((at / size) * startWithinMs);
      return fleet.startGate(bin, mock, servers.nginx.url);
    });
    const meanwhile = scenario.meanwhile?.(tools);
    if (scenario.fault !== undefined) {
      await until(() => mock.runs.length >= size / 2);
      faultAt = Date.now();
      await scenario.fault(tools);
      await until(() => !scenario.twice || mock.runs.some(({ state }) => state !== 'in_progress'));
      if (scenario.twice) await scenario.fault(tools);
    }
    const results = await Promise.all((await Promise.all(started)).map(({ ended }) => ended));
    await meanwhile;
    const wrong = results.filter(({ code, runId }) => code !== fleet.expectedCode(mock, runId));
    for (const { code, out, err } of wrong.slice(0, 3)) console.error(`exit code ${code}\n${out}${err}`);
    return {
      right: size - wrong.length,
      runs: mock.runs.length,
      delay: delaysOf(results.map(({ endedAt, runId }) => endedAt - fleet.endOf(mock, runId))),
      requests: mock.requests.filter(({ endpoint }) => endpoint?.startsWith('run.')).length / size,
      tookMs: Date.now() - began,
      ...refusalsOf(mock, faultAt),
    };
  } finally {
    await mock.close();
  }
}

/** Returns the simulated delay and requests of a scenario, or null if it cannot be simulated. */
async function simulate({ gates: size, simulated }) {
  if (simulated === undefined) return null;
  const totals = [];
  for (const seed of [1, 2, 3])
    totals.push(
      await simulateGates({
        ...simulated,
        size,
        seed,
        timeoutMs: 3600 * second,
        maxAttempts: Number.POSITIVE_INFINITY,
        runMs: [durationMs, durationMs],
        limiter: slidingMinute({ counting: false, retryAfter: true }),
      }),
    );
  const requests = totals.reduce((sum, total) => sum + total.requests, 0) / (size * totals.length);
  return { delay: delaysOf(totals.flatMap(({ delays }) => delays)), requests };
}

/** Returns the aims that a row misses. */
function missed({ gates, aim }, { right, runs, delay, refusedWithPlace }) {
  return [
    ...(right === gates ? [] : [`${gates - right} wrong exit codes`]),
    ...(runs === gates ? [] : [`${runs} runs`]),
    ...(aim === undefined || delay.mean <= aim * second ? [] : [`mean delay above ${aim} s`]),
    ...(refusedWithPlace === 0 ? [] : [`${refusedWithPlace} responses with 429`]),
  ];
}

const seconds = (ms) => (ms / second).toFixed(1);
const both = (found) =>
  found === null ? '–' : `${seconds(found.delay.mean)} (${seconds(found.delay.slow)})`;
const heads = [
  ...['gates', 'fault', 'right', 'simulated delay, s', 'delay, s', 'longest, s', 'simulated requests a run'],
  ...['requests a run', '429s', 'with a place', 'total, min', 'aim for the mean'],
];

/** Returns the cells of a row. A delay is the mean, and in parentheses the 95 % delay. */
function cellsOf(scenario, found, simulated) {
  const { name, gates, aim } = scenario;
  const wrong = missed(scenario, found);
  return [
    ...[
      gates,
      name,
      `${found.right} of ${gates}`,
      both(simulated),
      both(found),
      seconds(found.delay.slowest),
    ],
    ...[simulated?.requests.toFixed(1) ?? '–', found.requests.toFixed(1), found.refused],
    ...[found.refusedWithPlace, (found.tookMs / 60_000).toFixed(1)],
    wrong.length > 0 ? `missed: ${wrong.join(', ')}` : `${aim === undefined ? '' : `${aim} s: `}met`,
  ];
}

let servers;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void servers?.stop().finally(() => process.exit(1)));

const only = option('only', '');
const most = Number(option('gates', Number.POSITIVE_INFINITY));
const lines = [heads, heads.map((_, at) => (at === 1 ? '---' : '---:'))];
for (const scenario of scenarios.filter(({ name }) => name.includes(only))) {
  scenario.gates = Math.min(scenario.gates, most);
  servers = await startServers(fleet, bin, scenario);
  const warmAt = Date.now() + warmUpMs;
  // Now, since it takes processor time.
  const simulated = await simulate(scenario);
  await pause(Math.max(0, warmAt - Date.now()));
  const found = await play(scenario, servers);
  await servers.stop();
  lines.push(cellsOf(scenario, found, simulated));
  console.log(lines.at(-1).join(' | '));
  if (missed(scenario, found).length > 0) process.exitCode = 1;
}
const table = lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
console.log(table);
if (has('write')) {
  const machine = `Node ${process.version}, ${availableParallelism()} cores, runs of ${durationMs / second} s.`;
  writeBetween(
    ['<!-- measured: npm run bench:hub -- --write -->', '<!-- end of measured -->'],
    `${machine}\n\n${table}`,
  );
}
