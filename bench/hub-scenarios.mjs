// The scenarios of bench/hub.mjs. A fault begins after half of the runs were created. One that lasts has its end after a minute; one
// that takes a moment comes a second time when the first run has ended.
import { execFile } from 'node:child_process';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const redisCli = ({ port }, ...command) => execute('redis-cli', ['-p', String(port), ...command]);

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

/** Stops each hub as an operator does, and starts it again at its port. */
async function restartBoth({ hubs, start }) {
  for (const [at, hub] of hubs.entries()) {
    await hub.terminate();
    hubs[at] = await start(hub.port);
    await pause(3_000);
  }
}

const killBoth = ({ hubs }) => Promise.all(hubs.map((hub) => hub.kill()));

/** Lets something be so for a minute. */
const forAMinute = (begin, end) => async (servers) => {
  await begin(servers);
  await pause(minute);
  await end(servers);
};

const noHub = (forMs) => ({ hub: 'reliable', trouble: { fault: 'no hub', forMs } });

/** `aim`: the longest mean delay in seconds. `simulated`: the same in bench/fleet-simulation.ts. */
export const scenarios = [
  { name: 'no fault', gates: 1, aim: 2, simulated: { hub: 'reliable' } },
  { name: 'no fault', gates: 48, aim: 2, simulated: { hub: 'reliable' } },
  {
    name: '10 % of the deliveries lost',
    gates: 48,
    aim: 15,
    simulated: { hub: '10 % lost' },
    deliveries: (mock) => mock.faults.add({ kind: 'drop', chance: 0.1, times: always }),
  },
  {
    name: 'no deliveries',
    gates: 48,
    aim: 120,
    simulated: { hub: 'none' },
    deliveries: (mock) => mock.faults.add({ kind: 'drop', times: always }),
  },
  {
    name: 'deliveries repeated, late, out of order, early',
    gates: 48,
    simulated: { hub: 'chaos' },
    deliveries: addChaos,
    meanwhile: endSomeEarly,
  },
  { name: 'one hub killed', aim: 2, fault: ({ hubs }) => hubs[0].kill() },
  { name: 'both hubs killed', aim: 20, simulated: noHub(always), fault: killBoth },
  {
    name: 'both hubs killed, back after 60 s',
    aim: 20,
    simulated: noHub(minute),
    fault: forAMinute(killBoth, async ({ hubs, start }) => {
      for (const [at, hub] of hubs.entries()) hubs[at] = await start(hub.port);
    }),
  },
  {
    name: 'one hub frozen for 60 s',
    fault: forAMinute(
      ({ hubs }) => hubs[0].freeze(),
      ({ hubs }) => hubs[0].thaw(),
    ),
  },
  { name: 'nginx restarted', twice: true, fault: ({ nginx }) => nginx.restart() },
  { name: 'rolling restart', aim: 2, twice: true, fault: restartBoth },
  {
    name: 'Redis killed, back after 60 s',
    aim: 10,
    fault: forAMinute(
      ({ redis }) => redis.kill(),
      ({ redis }) => redis.restart(),
    ),
  },
  { name: 'Redis emptied', aim: 10, twice: true, fault: ({ redis }) => redisCli(redis, 'FLUSHALL') },
  {
    name: 'Redis full for 60 s',
    aim: 10,
    async fault(servers) {
      await redisCli(servers.redis, 'CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
      const setLimit = (bytes) => redisCli(servers.redis, 'CONFIG', 'SET', 'maxmemory', bytes);
      await forAMinute(
        () => setLimit('1'),
        () => setLimit('0'),
      )(servers);
    },
  },
  {
    name: 'Redis does not respond for 60 s',
    aim: 10,
    fault: forAMinute(
      ({ redis }) => redis.freeze(),
      ({ redis }) => redis.thaw(),
    ),
  },
  { name: 'Redis fails over with Sentinel', aim: 10, sentinel: true, fault: ({ redis }) => redis.kill() },
].map((scenario) => ({ gates: 20, ...scenario }));
