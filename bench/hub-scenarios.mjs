// The scenarios of bench/hub.mjs. A fault begins after half of the runs were created. One that lasts has its end after a minute; one
// that takes a moment comes a second time when the first run has ended.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const redisCli = (port, ...command) => execute('redis-cli', ['-p', String(port), ...command]);

const always = Number.POSITIVE_INFINITY;
const minute = 60_000;

/** Repeats, delays and reorders deliveries, and is slow to create runs. */
function addChaos(mock) {
  const deliveries = [
    { kind: 'duplicate', chance: 0.2 },
    { kind: 'delay', byMs: 20_000, chance: 0.1 },
    { kind: 'delay', byMs: 8_000, chance: 0.1 },
    { kind: 'reorder', byMs: 10_000, chance: 0.3 },
  ];
  for (const fault of deliveries) mock.faults.add({ ...fault, times: always });
  mock.faults.add({ kind: 'drip', everyMs: 20, endpoint: 'run.trigger', times: always });
}

/** Ends every sixth run at once: its delivery arrives before the response with its id. */
async function endSomeEarly({ mock, size, outcomes, until }) {
  for (let at = 5; at < size; at += 6) {
    await until(() => mock.runs.length > at);
    mock.endRun(mock.runs[at].runId, outcomes[at]);
  }
}

/** Stops a hub as an operator does, and starts it again at its port. */
async function restart({ hubs, start, pause }, at) {
  const { port } = hubs[at];
  await hubs[at].terminate();
  hubs[at] = await start(port);
  await pause(3_000);
}

async function restartBoth(stage) {
  await restart(stage, 0);
  await restart(stage, 1);
}

/** Lets a server become the primary, and the old one its replica. */
async function promote(replica, primary) {
  await redisCli(replica.port, 'REPLICAOF', 'NO', 'ONE');
  await redisCli(primary.port, 'REPLICAOF', '127.0.0.1', String(replica.port));
}

/** Makes the service respond to everything with a status code. */
async function failService({ mock, pause, mark }, status) {
  mock.faults.add({ kind: 'status', status, times: always });
  mark.badFrom = Date.now();
  await pause(minute);
  mock.faults.clear();
  mark.badUntil = Date.now();
}

/**
 * `aim`: the longest mean delay in seconds. `redis`: how the hubs reach Redis; by default directly. `needs`: an option without
 * which the scenario is skipped. `simulated`: the same in bench/fleet-simulation.ts.
 */
export const scenarios = [
  { name: 'no fault', gates: 1, aim: 2, simulated: { hub: 'reliable' } },
  { name: 'no fault', gates: 48, aim: 2, simulated: { hub: 'reliable' } },
  {
    ...{ name: '10 % of the deliveries lost', gates: 48, aim: 15, simulated: { hub: '10 % lost' } },
    deliveries: (mock) => mock.faults.add({ kind: 'drop', chance: 0.1, times: always }),
  },
  {
    ...{ name: 'no deliveries', gates: 48, aim: 120, simulated: { hub: 'none' } },
    deliveries: (mock) => mock.faults.add({ kind: 'drop', times: always }),
  },
  {
    ...{ name: 'deliveries repeated, late, out of order, early', gates: 48, simulated: { hub: 'chaos' } },
    deliveries: addChaos,
    meanwhile: endSomeEarly,
  },
  { name: 'one hub killed', aim: 2, fault: ({ hubs }) => hubs[0].kill() },
  {
    ...{
      name: 'both hubs killed',
      aim: 20,
      simulated: { hub: 'reliable', trouble: { fault: 'no hub', forMs: always } },
    },
    fault: ({ hubs }) => Promise.all(hubs.map((hub) => hub.kill())),
  },
  {
    // The second minute has begun by then, and every gate has its place.
    ...{
      name: 'both hubs killed, every gate connected',
      gates: 40,
      aim: 20,
      simulated: { hub: 'reliable', trouble: { fault: 'no hub', forMs: always } },
    },
    fault: ({ hubs }) => Promise.all(hubs.map((hub) => hub.kill())),
  },
  {
    ...{
      name: 'both hubs killed, back after 60 s',
      aim: 20,
      simulated: { hub: 'reliable', trouble: { fault: 'no hub', forMs: minute } },
    },
    async fault({ hubs, start, pause }) {
      await Promise.all(hubs.map((hub) => hub.kill()));
      await pause(minute);
      for (const [at, hub] of hubs.entries()) hubs[at] = await start(hub.port);
    },
  },
  {
    ...{ name: 'one hub frozen for 60 s' },
    async fault({ hubs, pause }) {
      hubs[0].freeze();
      await pause(minute);
      hubs[0].thaw();
    },
  },
  { name: 'nginx restarted', twice: true, fault: ({ nginx }) => nginx.restart() },
  { name: 'rolling restart', aim: 2, twice: true, fault: restartBoth },
  {
    ...{ name: 'rolling upgrade', aim: 2, needs: 'neighbour' },
    async fault(stage) {
      await restart(stage, 0);
      await stage.firstEnd();
      await restart(stage, 1);
    },
  },
  {
    ...{ name: 'Redis killed, back after 60 s', aim: 10 },
    async fault({ redis, pause }) {
      await redis.kill();
      await pause(minute);
      await redis.restart();
    },
  },
  {
    ...{ name: 'Redis emptied', aim: 10, twice: true },
    fault: ({ redis }) => redisCli(redis.port, 'FLUSHALL'),
  },
  {
    ...{ name: 'Redis full for 60 s', aim: 10 },
    async fault({ redis, pause }) {
      await redisCli(redis.port, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      await redisCli(redis.port, 'CONFIG', 'SET', 'maxmemory', '1');
      await pause(minute);
      await redisCli(redis.port, 'CONFIG', 'SET', 'maxmemory', '0');
    },
  },
  {
    ...{ name: 'Redis does not respond for 60 s', aim: 10, redis: 'proxy' },
    async fault({ tcpProxy, pause }) {
      tcpProxy.darken();
      await pause(minute);
      tcpProxy.lighten();
    },
  },
  {
    ...{ name: 'Redis fails over, its name moves', aim: 10, redis: 'proxy, replica' },
    async fault({ redis, replica, tcpProxy }) {
      await promote(replica, redis);
      tcpProxy.turnTo(replica.port);
    },
  },
  {
    ...{ name: 'Redis fails over with Sentinel', aim: 10, redis: 'sentinel, replica', needs: 'sentinel-url' },
    fault: ({ redis }) => redis.kill(),
  },
  {
    ...{
      name: 'service responds with 500 for 60 s',
      simulated: { hub: 'reliable', trouble: { fault: 500, forMs: minute } },
    },
    fault: (stage) => failService(stage, 500),
  },
  {
    ...{
      name: 'service responds with 429 for 60 s',
      storm: true,
      simulated: { hub: 'reliable', trouble: { fault: 429, forMs: minute } },
    },
    fault: (stage) => failService(stage, 429),
  },
].map((scenario) => ({ gates: 20, ...scenario }));
