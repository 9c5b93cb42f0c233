// Runs gates with two hubs as processes, in real time: nginx, Redis, and the mock with the documented limits and webhooks.
// npm run bench:hub [-- --only "one hub killed" --gates 6 --duration 20 --lanes 1 --warm-up 63 --json file --write
//   --neighbour <bin> --sentinel-url <url with {hosts}>]
// All scenarios take about half an hour. Needs redis-server, redis-cli, redis-sentinel and nginx.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startMock } from '../dist/index.js';
import { scenarios } from './hub-scenarios.mjs';
import { startStage } from './hub-stage.mjs';
import { hubTable, missed, simulatedRow, summaryOf } from './hub-table.mjs';
import { loadTypeScript } from './load-typescript.mjs';
import { writeBetween } from './markers.mjs';

const fleet = await loadTypeScript('hub-fleet.ts');
const simulation = await loadTypeScript('fleet-simulation.ts');
const built = fileURLToPath(new URL('../bin/rungate.js', import.meta.url));

const has = (name) => process.argv.includes(`--${name}`);
function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
}
const gates = option('gates', null);
const durationMs = 1000 * Number(option('duration', 60));
/** A hub grants less in its first minute. */
const warmUpMs = 1000 * Number(option('warm-up', 63));
const lanes = Number(option('lanes', 2));
const given = { neighbour: option('neighbour', null), 'sentinel-url': option('sentinel-url', null) };
const file = option('json', null);
const startWithinMs = 10_000;
/** The budget renews itself in this time, so starts and ends of gates come in this rhythm. */
const windowMs = 62_000;

const endings = ['passed', 'passed', 'failed', 'passed', 'blocked', 'passed', 'cancelled'];

async function until(holds) {
  while (!holds()) await pause(20);
}

/** Plays a scenario to the end of the last gate. Returns its figures and the gates that went wrong. */
async function play(scenario, stage) {
  const size = scenario.gates;
  const outcomes = Array.from({ length: size }, (_, at) => endings[at % endings.length]);
  const { tenantSecret } = fleet;
  const mock = await startMock({
    ...{ rateLimit: 'documented', deliveries: 'loopback', tenantSecret },
    ...{ duration: durationMs, outcome: outcomes },
  });
  const began = Date.now();
  const mark = { faultAt: Number.POSITIVE_INFINITY, badFrom: Number.NaN, badUntil: Number.NaN };
  const firstEnd = () => until(() => mock.runs.some(({ state }) => state !== 'in_progress'));
  const tools = { ...stage, mock, size, outcomes, until, firstEnd, pause, mark };
  try {
    await fleet.register(mock, stage.nginx);
    scenario.deliveries?.(mock);
    const started = Promise.all(
      Array.from({ length: size }, async (_, at) => {
        await pause((at / size) * startWithinMs);
        const isOld = scenario.needs === 'neighbour' && at < size / 2;
        return fleet.startGate(isOld ? given.neighbour : built, mock, stage.nginx.url);
      }),
    );
    const meanwhile = scenario.meanwhile?.(tools);
    if (scenario.fault !== undefined) {
      await until(() => mock.runs.length >= size / 2);
      mark.faultAt = Date.now();
      await scenario.fault(tools);
      if (scenario.twice) {
        await firstEnd();
        await scenario.fault(tools);
      }
    }
    const results = await Promise.all((await started).map(({ ended }) => ended));
    await meanwhile;
    const wrong = results.filter(({ code, runId }) => code !== fleet.expectedCode(mock, runId));
    const ends = results.map(({ endedAt, runId }) => ({ endedAt, runId, runEnd: fleet.endOf(mock, runId) }));
    return {
      wrong,
      figures: { ...summaryOf(mock, ends, mark), right: size - wrong.length, tookMs: Date.now() - began },
    };
  } finally {
    await mock.close();
  }
}

/** Waits until the lane's turn in the rhythm of the budget, so that two lanes do not start processes at the same time. */
async function turnOf(lane) {
  if (lanes === 1) return;
  const since = (Date.now() - epoch - (lane * windowMs) / lanes) % windowMs;
  await pause(since < 0 ? -since : windowMs - since);
}

const stages = new Set();
async function stopAll() {
  for (const stage of stages) await stage.stop();
}
for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => void stopAll().finally(() => process.exit(1)));

const rows = file !== null && existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).rows : [];
/** Keeps a row at once, so that nothing is lost if this process is stopped. */
function record(row) {
  const same = rows.findIndex(({ name, gates }) => name === row.name && gates === row.gates);
  rows.splice(same < 0 ? rows.length : same, 1, row);
  const machine = { node: process.version, cores: availableParallelism(), durationMs };
  if (file !== null) writeFileSync(file, `${JSON.stringify({ ...machine, rows }, null, 2)}\n`);
}

async function prepare(scenario) {
  if (scenario === undefined) return undefined;
  const bins = { first: scenario.needs === 'neighbour' ? given.neighbour : built, later: built };
  const stage = await startStage(fleet, scenario, bins, given['sentinel-url']);
  stages.add(stage);
  return stage;
}

/** Parts of names; several are possible. */
const only = process.argv.filter((_, at, all) => all[at - 1] === '--only');
const queue = scenarios
  .filter(({ name }) => only.length === 0 || only.some((part) => name.includes(part)))
  .map((scenario) => ({ ...scenario, gates: Math.min(scenario.gates, Number(gates ?? scenario.gates)) }))
  .filter(({ name, needs }) => {
    const isPossible = needs === undefined || given[needs] !== null;
    if (!isPossible) console.log(`skipped: ${name}: it needs --${needs}`);
    return isPossible;
  });

async function lane(index) {
  let scenario = queue.shift();
  let stage = await prepare(scenario);
  while (scenario !== undefined) {
    const next = queue.shift();
    const [one, on] = [scenario, stage];
    // The hubs of the next scenario become warm in the meantime.
    [scenario, stage] = [next, await prepare(next)];
    await pause(Math.max(0, on.readySince + warmUpMs - Date.now()));
    await turnOf(index);
    try {
      const { wrong, figures } = await play(one, on);
      const { name, gates, aim } = one;
      const row = { name, gates, aim, ...figures, simulated: simulated.get(one) };
      record(row);
      console.log(hubTable([row]).at(-1));
      for (const { code, out, err } of wrong.slice(0, 3)) console.error(`exit code ${code}\n${out}${err}`);
      if (missed(row).length > 0) process.exitCode = 1;
    } catch (error) {
      console.error(`${one.name}: ${error.stack}`);
      process.exitCode = 1;
    }
    await on.stop();
    stages.delete(on);
  }
}

// Before anything is measured, because it takes processor time.
const simulated = new Map();
for (const scenario of queue) simulated.set(scenario, await simulatedRow(simulation, scenario, durationMs));
for (const line of hubTable([])) console.log(line);
const epoch = Date.now();
await Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
if (has('write')) {
  const page = fileURLToPath(new URL('../docs/project/fleet.md', import.meta.url));
  const markers = ['<!-- measured: npm run bench:hub -- --write -->', '<!-- end of measured -->'];
  const place = ({ name }) => scenarios.findIndex((scenario) => scenario.name === name);
  const inOrder = rows.toSorted((a, b) => place(a) - place(b) || a.gates - b.gates);
  const machine = `Node ${process.version}, ${availableParallelism()} cores, runs of ${durationMs / 1000} s.`;
  writeBetween(page, markers, `${machine}\n\n${hubTable(inOrder).join('\n')}`);
}
