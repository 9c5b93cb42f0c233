// Simulates gates of one tenant against the documented limits, in virtual time, with several ways to poll.
// npm run bench:fleet [-- --seed 1 --repeats 5 --write]: ten minutes of processor time
// npm run bench:fleet -- --day [--write]: a day of 10,000 gates with a hub, and faults (two minutes)
import { dayTable } from './fleet-day.mjs';
import { atMost, has, loadTypeScript, mean, option, writeBetween } from './harness.mjs';

const simulation = await loadTypeScript('fleet-simulation.ts');
const { limiters, minute, second, simulateGates, slidingMinute, world } = simulation;

const hourMs = 60 * minute;
const intervalMs = 10 * second;

/*
 * The ways to poll besides rungate's are generators. They yield `{ wait }` in milliseconds, or
 * `{ send: 'create' | 'read' }`, and receive the result: 'limited', 'running' or 'ended'. They return true after observing
 * the end of the run.
 */
const create = { send: 'create' };
const read = { send: 'read' };

/** Polls every 10 s, 60 times, whatever the response; the same for the request that creates the run. */
function* naive() {
  for (let attempts = 1; (yield create) === 'limited'; attempts += 1) {
    if (attempts === 60) return false;
    yield { wait: intervalMs };
  }
  for (let attempts = 1; ; attempts += 1) {
    if ((yield read) === 'ended') return true;
    if (attempts === 60) return false;
    yield { wait: intervalMs };
  }
}

/** Polls every 10 s for at most an hour; retries a 429 after a random time below 1 s · 2^n, at most 60 s. */
function* fullJitter({ random, now }) {
  const deadline = now() + hourMs;
  for (let request = create, failures = 0; now() < deadline; ) {
    const result = yield request;
    if (result === 'ended') return true;
    failures = result === 'limited' ? failures + 1 : 0;
    if (result !== 'limited') request = read;
    const wait = failures === 0 ? intervalMs : random() * Math.min(minute, second * 2 ** (failures - 1));
    yield { wait };
  }
  return false;
}

/** Polls every 10 s; fails after three requests of a call (full jitter below 1 s · 2^n, at most 20 s). */
function* awsStyle({ random, now }) {
  const deadline = now() + hourMs;
  let request = create;
  for (let tokens = 500; now() < deadline; yield { wait: intervalMs }) {
    for (let attempts = 1; ; attempts += 1) {
      const result = yield request;
      if (result === 'ended') return true;
      if (result !== 'limited') {
        tokens = Math.min(500, tokens + (attempts === 1 ? 1 : 5));
        break;
      }
      if (attempts === 3 || tokens < 5) return false;
      tokens -= 5;
      yield { wait: random() * Math.min(20 * second, second * 2 ** (attempts - 1)) };
    }
    request = read;
  }
  return false;
}

const others = {
  'fixed 10 s, 60 times': naive,
  'backoff, full jitter': fullJitter,
  'AWS-style retry': awsStyle,
};

/** Simulates gates that poll in another way. */
function simulateOther(way, { size, seed, limiter }) {
  const within = world(limiter, seed, size);
  const { events, now, random } = within;
  for (let index = 0; index < size; index += 1) {
    const gate = way({ random, now });
    const run = { endsAt: Number.POSITIVE_INFINITY };
    const go = (result) => {
      const { done, value } = gate.next(result);
      if (done) within.ended(run, value);
      else if ('wait' in value) events.push(now() + Math.max(0, value.wait), () => go());
      else within.send(value.send, run, ({ state }) => go(state));
    };
    events.push(random() * 10 * second, () => go());
  }
  while (within.step());
  return within.total;
}

const defaults = { timeoutMs: hourMs, maxAttempts: 60 };
const long = (timeoutMs) => ({ timeoutMs, maxAttempts: Number.POSITIVE_INFINITY });

/** Returns the limits of a gate and its way to wait, by name, for a row of the table of polling. */
const limitsOf = (size) => (size > 200 ? long(2 * hourMs) : defaults);
const rungate = { name: 'rungate', play: (gates) => simulateGates({ ...gates, ...limitsOf(gates.size) }) };
const otherWays = Object.entries(others).map(([name, way]) => ({
  name,
  play: (gates) => simulateOther(way, gates),
}));
const withHub = (hub) => ({
  name: `hub, ${hub}`,
  play: (gates) => simulateGates({ ...gates, ...limitsOf(gates.size), hub }),
});

const shown = (ms) => (Number.isFinite(ms) ? (ms / second).toFixed(1) : '–');
const percent = (share) => `${(100 * share).toFixed(1)} %`;

const measured = new Map();

/** Plays gates with several seeds, and returns the totals of all. Times in milliseconds. */
async function measure({ name, play }, size, limiter, { seed, repeats }) {
  const key = [name, size, limiter.name].join();
  if (measured.has(key)) return measured.get(key);
  const runs = [];
  for (let i = 0; i < repeats; i += 1)
    runs.push(await play({ size, seed: seed + i, limiter: slidingMinute(limiter) }));
  const sum = (key) => runs.reduce((all, run) => all + run[key], 0);
  const most = (key) => Math.max(...runs.map((run) => run[key]));
  const delays = runs.flatMap((run) => run.delays);
  const totals = {
    ...{ average: mean(delays), slow: atMost(delays, 0.95), slowest: atMost(delays, 1) },
    failures: sum('failures') / (size * repeats),
    ...{ refused: sum('limited'), limited: sum('limited') / sum('requests') },
    createsLimited: sum('createsLimited') / sum('creates'),
    reads: sum('reads') / (size * repeats),
    ...{ peak: most('peak'), last: most('last') },
  };
  measured.set(key, totals);
  return totals;
}

/** Returns the aims of polling that were missed. */
function missedByPolling({ name }, size, bound, { failures, average, peak }) {
  if (name !== 'rungate') return [];
  const wrong = [];
  if (size <= 300 && failures > 0) wrong.push(`${percent(failures)} false failures`);
  if (size <= 200 && !(average <= 2.5 * bound))
    wrong.push(`delay ${(average / bound).toFixed(2)} × the bound`);
  if (size <= 300 && peak > 150) wrong.push(`${peak} requests a minute`);
  return wrong;
}

async function pollingTable(seeds, missed) {
  const lines = [
    '| gates | limiter | polling | false failures | mean delay, s | ÷ bound | 95 % delay, s | 429s | refused creates | reads a run | peak per minute | total, min |',
    '| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
  ];
  for (const size of [1, 10, 50, 200, 300, 1000]) {
    const bound = Math.max(intervalMs / 2, (size / 2 / 60) * minute);
    const rows = [];
    for (const limiter of limiters) {
      for (const way of [rungate, ...(limiter.retryAfter ? [] : otherWays)]) {
        const facts = await measure(way, size, limiter, seeds);
        const cells = [
          ...[way.name, percent(facts.failures), shown(facts.average)],
          Number.isFinite(facts.average) ? (facts.average / bound).toFixed(2) : '–',
          ...[shown(facts.slow), percent(facts.limited), percent(facts.createsLimited)],
          ...[facts.reads.toFixed(1), facts.peak, (facts.last / minute).toFixed(0)],
        ];
        rows.push({ limiter: limiter.name, cells: cells.join(' | ') });
        for (const wrong of missedByPolling(way, size, bound, facts))
          missed.push(`${size} gates, limiter ${limiter.name}, ${way.name}: ${wrong}`);
      }
    }
    const ways = new Set(rows.map(({ cells }) => cells));
    // A small fleet does not notice the limiter.
    const same = ways.size === 1 + otherWays.length;
    const shownRows = same ? [...ways].map((cells) => ({ limiter: 'any', cells })) : rows;
    for (const { limiter, cells } of shownRows) lines.push(`| ${size} | ${limiter} | ${cells} |`);
  }
  return lines;
}

const hubSizes = [1, 10, 50, 200, 1000];
/** The aims for the mean delay of gates with a hub, in milliseconds, by how reliable its deliveries are. */
const hubAims = {
  reliable: 2 * second,
  '10 % lost': 15 * second,
  '30 s late': Number.POSITIVE_INFINITY,
  none: 120 * second,
};

/** Returns the aims of a hub that were missed. */
function missedByHub(size, deliveries, { failures, refused, average, slow, reads }) {
  const wrong = [];
  if (failures > 0) wrong.push(`${percent(failures)} false failures`);
  if (refused > 0) wrong.push(`${refused} responses with 429`);
  if (!(average <= hubAims[deliveries])) wrong.push(`mean delay ${shown(average)} s`);
  if (deliveries === 'reliable' && !(slow <= 5 * second)) wrong.push(`95 % delay ${shown(slow)} s`);
  if (size >= 200 && !(reads <= 4)) wrong.push(`${reads.toFixed(2)} reads a run`);
  return wrong;
}

/** Limiters that request no time. No gate with a hub should notice which one it has. */
const forHub = limiters.filter(({ retryAfter }) => !retryAfter);

async function hubTable(seeds, missed) {
  const lines = [
    '| gates | deliveries | limiter | false failures | mean delay, s | 95 % delay, s | longest delay, s | 429s | reads a run | peak per minute | total, min |',
    '| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
  ];
  for (const size of hubSizes) {
    for (const deliveries of Object.keys(hubAims)) {
      const rows = [];
      for (const limiter of forHub) {
        const facts = await measure(withHub(deliveries), size, limiter, seeds);
        rows.push([
          ...[percent(facts.failures), shown(facts.average), shown(facts.slow), shown(facts.slowest)],
          ...[percent(facts.limited), facts.reads.toFixed(1), facts.peak, (facts.last / minute).toFixed(0)],
        ]);
        for (const wrong of missedByHub(size, deliveries, facts))
          missed.push(`${size} gates, limiter ${limiter.name}, hub, deliveries ${deliveries}: ${wrong}`);
      }
      const same = new Set(rows.map(String)).size === 1;
      for (const [at, row] of (same ? rows.slice(0, 1) : rows).entries())
        lines.push(`| ${[size, deliveries, same ? 'both' : forHub[at].name, ...row].join(' | ')} |`);
    }
  }
  return lines;
}

/** Compares the ways of rungate on the limiter that counts refused requests. */
async function comparison(seeds) {
  const hubs = ['reliable', '10 % lost', 'none'];
  const ways = [rungate, ...hubs.map(withHub)];
  const heads = ['gates', 'polling alone', ...hubs.map((hub) => `hub, deliveries ${hub}`)];
  const lines = [`| ${heads.join(' | ')} |`, `|${' ---: |'.repeat(heads.length)}`];
  const counting = limiters.find(({ counting, retryAfter }) => counting && !retryAfter);
  for (const size of hubSizes) {
    const cells = [];
    for (const way of ways) {
      const { failures, average, slow, reads } = await measure(way, size, counting, seeds);
      const delay = `${shown(average)} (${shown(slow)}); ${reads.toFixed(1)}`;
      cells.push(failures > 0 ? `${percent(failures)} fail` : delay);
    }
    lines.push(`| ${[size, ...cells].join(' | ')} |`);
  }
  return lines;
}

/** Finds the largest fleet that passes without a hub, by limiter and timeout, in steps of 100. */
async function cliff(seed, repeats) {
  const timeouts = [hourMs, 2 * hourMs];
  const lines = ['| limiter | `--timeout 60m` | `--timeout 120m` |', '| --- | ---: | ---: |'];
  for (const limiter of limiters) {
    const cells = [];
    for (const timeoutMs of timeouts) {
      let most = 0;
      for (let fine = true; fine && most < 4000; most += fine ? 100 : 0)
        for (let i = 0; fine && i < repeats; i += 1) {
          const gates = {
            size: most + 100,
            seed: seed + i,
            limiter: slidingMinute(limiter),
            ...long(timeoutMs),
          };
          fine = (await simulateGates(gates)).failures === 0;
        }
      cells.push(most);
    }
    lines.push(`| ${[limiter.name, ...cells].join(' | ')} |`);
  }
  return lines;
}

/** Prints figures, and writes them into docs/project/fleet.md between two markers. */
function publish(text, markers, missed) {
  const verdict =
    missed.length === 0 ? 'All aims are met.' : `Not met:\n\n${missed.map((one) => `- ${one}`).join('\n')}`;
  const whole = text.replace('{verdict}', verdict);
  console.log(whole);
  if (has('write')) writeBetween(markers, whole);
  if (missed.length > 0) process.exitCode = 1;
}

const seeds = { seed: Number(option('seed', 1)), repeats: Number(option('repeats', 5)) };
const origin = `Seed ${seeds.seed}, ${seeds.repeats} repeats.`;

if (has('day')) {
  const missed = [];
  const day = await dayTable(simulation, seeds, missed);
  const text = `${origin} The day is played once. {verdict}\n\n${day.join('\n')}`;
  publish(text, ['<!-- day: npm run bench:fleet -- --day --write -->', '<!-- end of day -->'], missed);
} else {
  const missed = [];
  const compared = await comparison(seeds);
  const hub = await hubTable(seeds, missed);
  const polling = await pollingTable(seeds, missed);
  const limits = await cliff(seeds.seed, Math.min(2, seeds.repeats));
  const parts = [
    origin,
    'Mean delay in seconds (95 % delay); reads a run. The limiter counts refused requests and sends no `Retry-After`.',
    ...[compared.join('\n'), '{verdict}'],
    ...['Gates with a hub:', hub.join('\n')],
    ...['Gates that poll:', polling.join('\n')],
    ...['The largest fleet that passes without a hub, in steps of 100:', limits.join('\n')],
  ];
  const markers = ['<!-- figures: npm run bench:fleet -- --write -->', '<!-- end of figures -->'];
  publish(parts.join('\n\n'), markers, missed);
}
