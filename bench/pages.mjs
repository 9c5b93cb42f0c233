// Compares `observations list --all --format ndjson` over one million observations with a bare loop over the same pages, in
// turn, each in its own process; and its memory with that for a thousand.
// npm run bench:pages [-- --runs 5 --items 1000000 --page-size 1000]
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { openSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';

const self = fileURLToPath(import.meta.url);
const bin = fileURLToPath(new URL('../bin/rungate.js', import.meta.url));

function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : Number(process.argv[at + 1]);
}

/** Returns a page with a placeholder of fixed length for the page number, so that items are created only once. */
function template(pageSize) {
  const items = Array.from({ length: pageSize }, (_, index) => ({
    id: `obs_@@@@@@@@_${String(index).padStart(4, '0')}`,
    title: `Checkout total is off by a cent after reload ${index % 8 === 0 ? '#' : ''}${index}`,
    status: ['open', 'confirmed', 'archived'][index % 3],
    discoveredInEnvironmentKey: 'staging',
    discoveredInEnvironmentVersion: `2.${index % 7}.0`,
    processRunId: `run_${index % 97}`,
    createdByAgentTemplateId: null,
    createdAt: '2026-03-01T10:15:00Z',
    confidence: index / 1000,
    body: 'Open the cart, "apply" the code, go back and reload.',
  }));
  return Buffer.from(JSON.stringify(items));
}

async function serve() {
  const templates = new Map();
  const pageOf = (query) => {
    const [page, pageSize, total] = ['page', 'pageSize', 'total'].map((name) => Number(query.get(name)));
    if (!templates.has(pageSize)) {
      const items = template(pageSize);
      const places = [];
      for (let at = items.indexOf('@@@@@@@@'); at >= 0; at = items.indexOf('@@@@@@@@', at + 8))
        places.push(at);
      templates.set(pageSize, { items, places });
    }
    const { items, places } = templates.get(pageSize);
    const number = Buffer.from(String(page).padStart(8, '0'));
    for (const place of places) number.copy(items, place);
    const totalPages = Math.ceil(total / pageSize);
    const rest = JSON.stringify({
      totalCount: total,
      page,
      pageSize,
      totalPages,
      hasNextPage: page < totalPages,
      hasPreviousPage: page > 1,
    });
    return Buffer.concat([Buffer.from('{"items":'), items, Buffer.from(`,${rest.slice(1)}`)]);
  };
  const server = createServer((request, response) => {
    const url = new URL(request.url, 'http://localhost');
    // The project is the number of items: /api/projects/1000000/observations.
    url.searchParams.set('total', url.pathname.split('/')[3]);
    const body = pageOf(url.searchParams);
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length });
    response.end(body);
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
}

/** The script that a user would write instead, without checks, retries or output. */
async function bare(url, items, pageSize) {
  const { request } = await import('undici');
  const headers = { authorization: `Bearer ${token}` };
  let seen = 0;
  for (let page = 1, more = true; more; page += 1) {
    const path = `/api/projects/${items}/observations?page=${page}&pageSize=${pageSize}`;
    const { body } = await request(url + path, { headers });
    const list = JSON.parse(await body.text());
    seen += list.items.length;
    more = list.hasNextPage;
  }
  if (seen !== Number(items)) throw new Error(`${seen} items of ${items}`);
  // undici would keep its connection open for a while.
  process.exit(0);
}

const token = 'token-5b3f9a17c2d84e60';
const nowhere = openSync('/dev/null', 'w');

/** Loaded into each process: reports the resource usage on exit. */
const report = `import { writeSync } from 'node:fs';
process.on('exit', () => writeSync(3, JSON.stringify(process.resourceUsage())));`;

/** Runs a process and returns its elapsed seconds, processor seconds and peak memory in MB. */
async function measure(args, url) {
  const env = { ...process.env, RUNGATE_API_URL: url, RUNGATE_TOKEN: token };
  const began = process.hrtime.bigint();
  const child = spawn(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(report)}`, ...args],
    { env, stdio: ['ignore', nowhere, 'inherit', 'pipe'] },
  );
  let usage = '';
  child.stdio[3].on('data', (chunk) => {
    usage += chunk;
  });
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`exit ${code}: ${args.join(' ')}`);
  const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(usage);
  return {
    seconds: Number(process.hrtime.bigint() - began) / 1e9,
    busy: (userCPUTime + systemCPUTime) / 1e6,
    megabytes: maxRSS / 1024,
  };
}

const sorted = (values) => values.toSorted((a, b) => a - b);
const median = (values) => sorted(values)[Math.floor(values.length / 2)];
const spread = (values, digits) => {
  const all = sorted(values);
  return `${all[0].toFixed(digits)} – ${all.at(-1).toFixed(digits)}`;
};

async function compare() {
  const runs = option('runs', 5);
  const items = option('items', 1_000_000);
  const pageSize = option('page-size', 1000);
  const server = spawn(process.execPath, [self, 'serve'], { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const url = String((await once(server.stdout, 'data'))[0]).trim();
    const list = (project) => [
      ...[bin, 'observations', 'list', project, '--all'],
      ...['--page-size', String(pageSize), '--format', 'ndjson'],
    ];
    const commands = {
      'bare undici + JSON.parse': [self, 'bare', url, String(items), String(pageSize)],
      'rungate --all': list(String(items)),
      'rungate --all, 1000 items': list('1000'),
    };
    const figures = Object.fromEntries(Object.keys(commands).map((name) => [name, []]));
    for (let run = 0; run <= runs; run += 1) {
      for (const [name, args] of Object.entries(commands)) {
        const figure = await measure(args, url);
        // The first round warms up: files are read and the server's templates are created.
        if (run > 0) figures[name].push(figure);
      }
    }
    const of = (name, key) => figures[name].map((figure) => figure[key]);
    console.log(`${items} items, ${pageSize} a page; ${runs} runs of each, in turn; Node ${process.version}`);
    console.log(
      '| command | s, median | s, spread | items/s | CPU s, median | peak MB, median | peak MB, spread |',
    );
    console.log('| --- | ---: | ---: | ---: | ---: | ---: | ---: |');
    for (const name of Object.keys(commands)) {
      const [seconds, megabytes] = [of(name, 'seconds'), of(name, 'megabytes')];
      const count = name.includes('1000 items') ? 1000 : items;
      const cells = [
        median(seconds).toFixed(2),
        spread(seconds, 2),
        Math.round(count / median(seconds)),
        median(of(name, 'busy')).toFixed(2),
        median(megabytes).toFixed(0),
        spread(megabytes, 0),
      ];
      console.log(`| ${name} | ${cells.join(' | ')} |`);
    }
    const [bareName, wholeName, fewName] = Object.keys(commands);
    const rates = of(bareName, 'seconds').map((seconds, run) => seconds / of(wholeName, 'seconds')[run]);
    const rate = median(of(bareName, 'seconds')) / median(of(wholeName, 'seconds'));
    const memory = median(of(wholeName, 'megabytes')) / median(of(fewName, 'megabytes'));
    console.log(
      `rate relative to the bare loop: ${rate.toFixed(2)} (by run ${spread(rates, 2)}); aim: at least 0.7`,
    );
    const busy = median(of(bareName, 'busy')) / median(of(wholeName, 'busy'));
    console.log(`the same in processor time: ${busy.toFixed(2)}`);
    console.log(`peak memory relative to a thousand items: ${memory.toFixed(2)}; aim: at most 2`);
    if (rate < 0.7 || memory > 2) process.exitCode = 1;
  } finally {
    server.kill();
  }
}

const [command, ...rest] = process.argv.slice(2);
if (command === 'serve') await serve();
else if (command === 'bare') await bare(...rest);
else await compare();
