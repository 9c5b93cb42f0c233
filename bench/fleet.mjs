// Gates of one tenant against the documented limits, on a fake clock: what each way to poll does to them.
// npm run bench:fleet [-- --seed 1 --repeats 5 --write]
// npm run bench:fleet -- --real: fifty processes against the mock, in real time (about six minutes).
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const has = (name) => process.argv.includes(`--${name}`);
function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}

/** The project's own rules, not copies of them. */
async function ours() {
  const contents = `export { afterRead, firstProgress } from './src/gate/poll.ts';
export { ceilings, fleetCreates, fleetSlots, slotFrom } from './src/http/pace.ts';
export { limitWait } from './src/http/retry.ts';
export { HttpError } from './src/errors.ts';`;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: root, loader: 'ts' },
    ...{ bundle: true, write: false, format: 'esm', platform: 'node', logLevel: 'error' },
  });
  return import(`data:text/javascript;base64,${Buffer.from(outputFiles[0].contents).toString('base64')}`);
}

const { afterRead, firstProgress, ceilings, fleetCreates, fleetSlots, slotFrom, limitWait, HttpError } =
  await ours();

/** mulberry32 */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const second = 1000;
const minute = 60 * second;
const timeoutMs = 60 * minute;
const intervalMs = 10 * second;

/** A sliding minute. `counting`: a rejected call uses up the limit, too. */
function limiter(counting) {
  const logs = { all: [], read: [], create: [] };
  const limits = { all: ceilings.all, read: ceilings.reads, create: ceilings.creates };
  return (kind, now) => {
    const names = ['all', kind];
    for (const name of names)
      while (logs[name].length > 0 && logs[name][0] <= now - minute) logs[name].shift();
    const allowed = names.every((name) => logs[name].length < limits[name]);
    if (allowed || counting) for (const name of names) logs[name].push(now);
    return allowed;
  };
}

/** What is due when, soonest first. */
function queue() {
  const heap = [];
  const before = (a, b) => a.at < b.at || (a.at === b.at && a.id < b.id);
  let id = 0;
  return {
    push(at, act) {
      id += 1;
      let i = heap.push({ at, act, id }) - 1;
      for (let up = (i - 1) >> 1; i > 0 && before(heap[i], heap[up]); i = up, up = (i - 1) >> 1)
        [heap[i], heap[up]] = [heap[up], heap[i]];
    },
    pop() {
      const top = heap[0];
      const last = heap.pop();
      if (heap.length === 0 || top === undefined) return top;
      heap[0] = last;
      for (let i = 0; ; ) {
        let least = i;
        for (const child of [2 * i + 1, 2 * i + 2])
          if (child < heap.length && before(heap[child], heap[least])) least = child;
        if (least === i) return top;
        [heap[i], heap[least]] = [heap[least], heap[i]];
        i = least;
      }
    },
  };
}

/*
 * Each way is a generator: it yields `{ wait }` in milliseconds, or `{ send: 'create' | 'read' }` and is given back
 * what came of it: 'limited', 'running' or 'ended'. It returns true when it has seen the end of its run.
 */
const create = { send: 'create' };
const read = { send: 'read' };

function* rungate({ random, now, fleet, offset }) {
  const creates = fleet && fleetCreates(fleet, offset);
  if (creates) yield { wait: slotFrom(now(), creates) - now() };
  const deadline = now() + timeoutMs;
  for (let limited = 0; (yield create) === 'limited'; limited += 1) {
    const wait = limitWait(limited, random);
    if (now() + wait >= deadline) return false;
    yield { wait };
  }
  const slots = fleet && fleetSlots(fleet, ceilings.reads, offset);
  const rules = { intervalMs, maxAttempts: 60, deadline, triggered: true, slots };
  if (slots) yield { wait: slotFrom(now(), slots) - now() };
  for (let progress = firstProgress(); ; ) {
    const came = yield read;
    const result =
      came === 'limited'
        ? { error: new HttpError('429', { status: 429 }) }
        : {
            reading: {
              ...{ kind: came === 'ended' ? 'ended' : 'running', state: came, known: true, appUrl: null },
              ...{ retryAfterSeconds: null, failed: 0, blocked: 0 },
            },
          };
    const after = afterRead(progress, result, rules, now(), random());
    progress = after.progress;
    if ('done' in after.decision) return came === 'ended';
    yield { wait: after.decision.waitMs };
  }
}

/** Every 10 s, 60 times, whatever comes; the same for the create. */
function* naive() {
  for (let tries = 1; (yield create) === 'limited'; tries += 1) {
    if (tries === 60) return false;
    yield { wait: intervalMs };
  }
  for (let tries = 1; ; tries += 1) {
    if ((yield read) === 'ended') return true;
    if (tries === 60) return false;
    yield { wait: intervalMs };
  }
}

/** Every 10 s; a 429 is tried again after anything from 0 up to 1 s · 2^n, at most 60 s; an hour in all. */
function* fullJitter({ random, now }) {
  const deadline = now() + timeoutMs;
  for (let what = create, failures = 0; now() < deadline; ) {
    const came = yield what;
    if (came === 'ended') return true;
    failures = came === 'limited' ? failures + 1 : 0;
    if (came !== 'limited') what = read;
    const wait = failures === 0 ? intervalMs : random() * Math.min(minute, second * 2 ** (failures - 1));
    yield { wait };
  }
  return false;
}

/** Every 10 s; each request up to three times (standard mode: full jitter 1 s · 2^n up to 20 s), then it has failed. */
function* awsStyle({ random, now }) {
  const deadline = now() + timeoutMs;
  let what = create;
  for (let tokens = 500; now() < deadline; yield { wait: intervalMs }) {
    for (let tries = 1; ; tries += 1) {
      const came = yield what;
      if (came === 'ended') return true;
      if (came !== 'limited') {
        tokens = Math.min(500, tokens + (tries === 1 ? 1 : 5));
        break;
      }
      if (tries === 3 || tokens < 5) return false;
      tokens -= 5;
      yield { wait: random() * Math.min(20 * second, second * 2 ** (tries - 1)) };
    }
    what = read;
  }
  return false;
}

const ways = {
  rungate: { way: rungate },
  'rungate --fleet-size': { way: rungate, known: true },
  'fixed 10 s, 60 times': { way: naive },
  'backoff, full jitter': { way: fullJitter },
  'AWS-style retry': { way: awsStyle },
};

/** N gates that start within ten seconds; each of their runs takes 2 to 8 minutes from its creation: within 60 polls of 10 s,
 * so that whoever gives up on it does so because of the limits. */
function simulate({ way, known }, size, counting, seed) {
  const random = randomFrom(seed * 7919 + size);
  const events = queue();
  const allow = limiter(counting);
  let time = 0;
  const now = () => time;
  const total = { requests: 0, limited: 0, creates: 0, createsLimited: 0, failures: 0, delays: [], last: 0 };
  const latency = () => 50 + random() * 200;
  for (let index = 0; index < size; index += 1) {
    const fleet = known ? { size, index } : undefined;
    const gate = way({ random, now, fleet, offset: 1_768_478_400_000 });
    let endsAt = Number.POSITIVE_INFINITY;
    const go = (came) => {
      const { done, value } = gate.next(came);
      if (done) {
        if (value) total.delays.push(time - endsAt);
        else total.failures += 1;
        total.last = Math.max(total.last, time);
      } else if ('wait' in value) {
        events.push(time + Math.max(0, value.wait), () => go());
      } else {
        const out = latency() / 2;
        events.push(time + out, () => {
          const allowed = allow(value.send, time);
          total.requests += 1;
          if (!allowed) total.limited += 1;
          if (value.send === 'create') {
            total.creates += 1;
            if (allowed) endsAt = time + (2 + random() * 6) * minute;
            else total.createsLimited += 1;
          }
          const reply = !allowed ? 'limited' : time >= endsAt ? 'ended' : 'running';
          events.push(time + out, () => go(reply));
        });
      }
    };
    events.push(random() * 10 * second, () => go());
  }
  for (let event = events.pop(); event !== undefined; event = events.pop()) {
    time = event.at;
    event.act();
  }
  return total;
}

const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
const quantile = (values, q) => values.toSorted((a, b) => a - b)[Math.ceil(values.length * q) - 1];
const shown = (ms) => (Number.isFinite(ms) ? (ms / second).toFixed(1) : '–');

function table(seed, repeats) {
  const lines = [
    '| gates | limiter | way | false failures | delay, mean s | ÷ bound | delay, 95 % s | 429s | creates refused | all over, min |',
    '| ---: | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |',
  ];
  const missed = [];
  for (const size of [1, 10, 50, 200, 1000]) {
    const bound = Math.max(intervalMs / 2, (size / 2 / ceilings.reads) * minute);
    for (const counting of [false, true]) {
      for (const [name, one] of Object.entries(ways)) {
        const runs = Array.from({ length: repeats }, (_, i) => simulate(one, size, counting, seed + i));
        const sum = (key) => runs.reduce((all, run) => all + run[key], 0);
        const delays = runs.flatMap((run) => run.delays);
        const average = mean(delays);
        const failures = sum('failures') / (size * repeats);
        const limited = sum('limited') / sum('requests');
        const cells = [
          ...[size, counting ? 'counts' : 'forgives', name, `${(100 * failures).toFixed(1)} %`],
          ...[shown(average), Number.isFinite(average) ? (average / bound).toFixed(2) : '–'],
          ...[shown(quantile(delays, 0.95)), `${(100 * limited).toFixed(1)} %`],
          `${((100 * sum('createsLimited')) / sum('creates')).toFixed(1)} %`,
          (Math.max(...runs.map((run) => run.last)) / minute).toFixed(0),
        ];
        lines.push(`| ${cells.join(' | ')} |`);
        const label = `${size} gates, limiter ${cells[1]}, ${name}`;
        if (!name.startsWith('rungate')) continue;
        if (size <= 200 && failures > 0) missed.push(`${label}: ${cells[3]} false failures`);
        if (size <= 200 && !(average <= 2.5 * bound)) missed.push(`${label}: delay ${cells[5]} × the bound`);
        if (one.known && sum('limited') > 0) missed.push(`${label}: ${cells[7]} 429s`);
      }
    }
  }
  return { lines, missed };
}

const markers = ['<!-- figures: npm run bench:fleet -- --write -->', '<!-- end of figures -->'];

if (has('real')) await real();
else {
  const [seed, repeats] = [option('seed', 1), option('repeats', 5)];
  const { lines, missed } = table(seed, repeats);
  const head = `Seed ${seed}, ${repeats} repeats.`;
  const verdict =
    missed.length === 0 ? 'Every aim is met.' : `Not met:\n\n${missed.map((one) => `- ${one}`).join('\n')}`;
  const text = `${head}\n\n${lines.join('\n')}\n\n${verdict}\n`;
  console.log(text);
  if (has('write')) {
    const file = `${root}docs/fleet.md`;
    const [before, rest] = readFileSync(file, 'utf8').split(markers[0]);
    const after = rest.split(markers[1])[1];
    writeFileSync(file, `${before}${markers[0]}\n\n${text}\n${markers[1]}${after}`);
  }
  if (missed.length > 0) process.exitCode = 1;
}

/** Fifty gates as processes against the mock with the documented limits, each with its place in the fleet. */
async function real() {
  const size = option('gates', 50);
  const bin = `${root}bin/rungate.js`;
  const mock = spawn(
    process.execPath,
    [
      bin,
      'mock',
      'serve',
      '--port',
      '0',
      '--rate-limit',
      'documented',
      '--duration',
      '60s',
      '--outcome',
      'passed',
    ],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  try {
    let said = '';
    while (!/https?:\/\/\S+/.test(said)) said += String((await once(mock.stdout, 'data'))[0]);
    const url = /https?:\/\/[^\s"]+/.exec(said)[0];
    const env = { ...process.env, ...realEnv(said, url) };
    const known = !has('unknown');
    const began = performance.now();
    const results = await Promise.all(
      Array.from({ length: size }, async (_, index) => {
        const place = known ? ['--fleet-size', String(size), '--fleet-index', String(index)] : [];
        const child = spawn(
          process.execPath,
          [
            bin,
            'run',
            'trigger',
            '--project',
            'shop',
            '--process',
            'checkout',
            '--wait',
            '--verbose',
            ...place,
          ],
          { env, stdio: ['ignore', 'ignore', 'pipe'] },
        );
        let err = '';
        child.stderr.on('data', (chunk) => {
          err += chunk;
        });
        const [code] = await once(child, 'close');
        const replies = [...err.matchAll(/^\* (\S+) \S+ → (\w+)/gm)];
        return {
          code,
          requests: replies.length,
          limited: replies.filter(([, , status]) => status === '429').length,
          err,
        };
      }),
    );
    const sum = (key) => results.reduce((all, result) => all + result[key], 0);
    const failed = results.filter(({ code }) => code !== 0);
    console.log(
      `${size} processes${known ? ' with their places' : ''}: ${failed.length} false failures, ${sum('limited')} 429s in ${sum('requests')} requests, all over in ${Math.round((performance.now() - began) / 1000)} s`,
    );
    if (failed.length > 0) console.log(failed[0].err);
    if (failed.length > 0 || (known && sum('limited') > 0)) process.exitCode = 1;
  } finally {
    mock.kill();
  }
}

function realEnv(said, url) {
  const key = /RUNGATE_API_KEY=(\S+)/.exec(said)?.[1] ?? 'rg_mock';
  return { RUNGATE_API_URL: url, RUNGATE_API_KEY: key };
}
