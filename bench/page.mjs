import { readFileSync } from 'node:fs';
import { exactly, judge } from './aims.mjs';
import { ratios, summary } from './statistics.mjs';

/** The script on the page. */
const fetchScript = readFileSync(new URL('compared/fetch.mjs', import.meta.url), 'utf8').trimEnd();

const mib = (bytes) => (bytes / 2 ** 20).toFixed(1);
const count = (number) => new Intl.NumberFormat('en-US').format(number);
const spread = ({ low, high }, digits) => `${low.toFixed(digits)} – ${high.toFixed(digits)}`;
/** Returns median and spread as two cells. */
const two = (one, digits) => [one.median.toFixed(digits), spread(one, digits)];
const both = (values, digits) => two(summary(values), digits);

function table(head, rows) {
  // The first column is text; the others are numbers.
  const line = head.map((_, at) => (at === 0 ? '---' : '---:'));
  return [head, line, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Returns a table of the aims with the measured values. */
export function aimsTable(aims) {
  const wanted = ({ atMost, atLeast }) =>
    atMost === undefined ? `at least ${atLeast}` : `at most ${count(atMost)}`;
  const cells = ({ is }) =>
    is.low === is.high && Number.isInteger(is.median) ? [count(is.median), ''] : two(is, 2);
  const rows = aims.map((aim) => [aim.of, wanted(aim), ...cells(aim), aim.met ? 'met' : '**not met**']);
  return table(['metric', 'aim', 'measured', '10 – 90 %', ''], rows);
}

const commands = {
  node: '`node -e 0`',
  version: '`rungate --version`',
  fetch: '`fetch.mjs`',
  nodeHttp: '`node-http.mjs`',
  wait: '`rungate run wait`',
};

function gateTable(gate) {
  const rows = Object.values(gate).flatMap(({ node, ms, mib: peaks }) =>
    Object.entries(commands).map(([key, name]) => [
      `${name}, Node ${node}`,
      ...both(ms[key], 0),
      ...both(peaks[key], 1),
    ]),
  );
  return table(['process', 'processor ms', '10 – 90 %', 'peak MiB', '10 – 90 %'], rows);
}

function clientTable(client) {
  const rows = Object.entries(client).flatMap(([width, phases]) =>
    Object.entries(phases).flatMap(([phase, { ms, busyMs, mib: peaks }]) => {
      const at = `${width === '1' ? 'one at a time' : `${width} at once`}, ${phase === 'first' ? 'first thousand' : 'after warm-up'}`;
      return ['undici', 'rungate'].map((contender) => {
        const perSecond = summary(ms[contender].map((one) => 1e6 / one));
        const name = contender === 'undici' ? '`undici.request` and `JSON.parse`' : '`client.run.status`';
        const ratio = contender === 'undici' ? '' : ratios(ms.undici, ms.rungate).median.toFixed(2);
        return [
          `${name}, ${at}`,
          ...two(perSecond, 0),
          ratio,
          both(busyMs[contender], 0)[0],
          both(peaks[contender], 1)[0],
        ];
      });
    }),
  );
  return table(['1000 reads', 'reads/s', '10 – 90 %', '× undici', 'processor ms', 'peak MiB'], rows);
}

const npxCases = {
  npm: '`npm --version`, for comparison',
  empty: '`npx` from the tarball, empty cache',
  again: '`npx` from the tarball, filled cache',
};

function npxTable({ ms }) {
  const rows = Object.entries(npxCases).map(([key, name]) => [name, ...both(ms[key], 0)]);
  return table(['process', 'ms', '10 – 90 %'], rows);
}

function machineText({ date, node, cpu, cores, memoryGiB, system, load, loadAfter }) {
  return `${date}, Node ${node}, ${system}, ${cpu}, ${cores} cores, ${memoryGiB} GiB. Load average: ${load} at the start, ${loadAfter} at the end.`;
}

function peersPart(stored) {
  const rows = stored.peers
    .filter((peer) => peer.failed === undefined)
    .map((peer) => [
      `${peer.name} ${peer.version}`,
      ...two(peer.versionMs, 0),
      ...[peer.overNode.median.toFixed(1), peer.overRungate.median.toFixed(1)],
      ...[
        count(peer.packages),
        String(peer.scripts),
        mib(peer.installedBytes),
        (peer.installMs / 1000).toFixed(0),
      ],
    ]);
  const head = ['package', '`--version`, ms', '10 – 90 %', '× `node -e 0`', '× `rungate --version`'];
  const more = ['packages', 'with install scripts', 'MiB', 'install, s'];
  const failed = stored.peers
    .filter((peer) => peer.failed !== undefined)
    .map((peer) => `\n\n${peer.name}: not measured (${peer.failed}).`);
  return `${table([...head, ...more], rows)}${failed.join('')}

These tools do more than \`rungate\`. npm chose the versions for this Node, and installed each once, with an empty cache and without install scripts. The
install time is mostly network time.

${machineText(stored.machine)}`;
}

const processes = {
  oneLine: 'an executable of one line',
  version: '`rungate --version`, executable',
  packageVersion: '`rungate --version`, package',
  wait: '`rungate run wait`, executable',
  packageWait: '`rungate run wait`, package',
};

const executableAims = [
  ['`--version`, time relative to an executable of one line', 'versionOverOneLine', 1.2],
  ['`run wait` on a finished run, time relative to the package', 'waitOverPackage', 1.1],
];

function binaryPart(stored) {
  const { files, rounds, ms, mib: peaks } = stored;
  const judged = [
    ...executableAims.map(([of, name, atMost]) => ({ of, atMost, is: stored[name] })),
    { of: 'bytes of the executable, packed with xz', atMost: 40_000_000, is: exactly(files[0].packedBytes) },
  ].map((aim) => ({ ...aim, met: aim.is.median <= aim.atMost }));
  const others = files.slice(1);
  const rows = [
    ...Object.entries(processes),
    ...others.map(({ name, version }) => [name, `${name} ${version}, \`--version\``]),
  ].map(([key, name]) => [name, ...two(ms[key], 0), peaks[key].median.toFixed(1)]);
  const sizes = files.map(({ name, version, bytes, packedBytes }) => {
    const tool = name === 'rungate' ? `rungate with Node ${version}` : `${name} ${version}`;
    return [tool, count(bytes), count(packedBytes)];
  });
  return `${aimsTable(judged)}

${table(['process', 'ms', '10 – 90 %', 'peak MiB'], rows)}

${table(['file', 'bytes', 'packed with xz'], sizes)}

The executable is for Linux, x64. The package runs on the same Node, ${stored.machine.node}. The other tools are single files from the npm registry, written in Go
and Rust. They do other work. Each time is the median of ${rounds} runs.

${machineText(stored.machine)}`;
}

/** Returns the text of a section of a page. */
const sectionOf = (text, title) => text.split(`\n## ${title}\n`)[1]?.split('\n## ')[0].trim() ?? '';

/**
 * Returns the text of docs/project/performance.md.
 * @param found the results of gate, client and npx over `rounds` rounds, and the machine; perhaps `peers` and `binary`
 * @param before the page as it is, which keeps its sections of peers and of the executable without such results
 */
export function performancePage({ machine, rounds, gate, client, npx, peers, binary }, before) {
  const aims = judge({ gate, client, npx });
  const missed = aims.filter(({ met }) => !met).length;
  const verdict = missed === 0 ? 'All aims are met.' : `Aims not met: ${missed} of ${aims.length}.`;
  return `# Performance

<!-- Written by \`npm run bench\`: to change it, edit bench/ and run it again. -->

This page compares the time and memory of \`rungate\` with those of a script that does the same. ${verdict}

${aimsTable(aims)}

Each figure is the median of ${rounds} runs, with the 10th and 90th percentiles. The built package and the scripts run in turn, each in its own process. Each
round gives one ratio, and the table shows the median of these ratios.

${machineText(machine)}

The benchmark itself causes a load of about 1. If a load is above the number of cores, other programs slowed the benchmark down.

## One status read

\`rungate run wait\` reads the status of a run that has ended. The service is a \`node:http\` server in another process on the same machine. The shorter script is
[fetch.mjs](../../bench/compared/fetch.mjs):

\`\`\`js
${fetchScript}
\`\`\`

[node-http.mjs](../../bench/compared/node-http.mjs) does the same with \`node:http\`. Neither script validates the response, retries, or sets a timeout. Times are
processor times without the compile cache of Node 22 and later, which a CI job usually finds empty. Memory is the peak that the operating system reports.

${gateTable(gate)}

## The client

Each process reads a status 11,000 times. The table shows the first thousand reads, and the last thousand, after warm-up.

${clientTable(client)}

## Installation

The tarball contains ${count(npx.tarballBytes)} bytes, and takes ${mib(npx.installedBytes)} MiB when installed. It needs no other package, so these processes run
without a registry.

${npxTable(npx)}

## Other tools

${peers === undefined ? sectionOf(before, 'Other tools') : peersPart(peers)}

## Single executable

${binary === undefined ? sectionOf(before, 'Single executable') : binaryPart(binary)}

## Running the benchmark

<!-- not run: takes minutes on an otherwise idle machine -->

\`\`\`sh
npm run bench                  # prints this page and writes it
npm run bench -- --no-write    # only prints it
npm run bench -- --rounds 31   # default 21; with fewer than 15 the page is not written
npm run bench -- --peers       # measures the other tools again, from the registry
npm run bench -- --binary      # measures the executable again
\`\`\`

The command exits with 1 if an aim is not met. Other benchmarks only print their figures:

<!-- not run: takes minutes on an otherwise idle machine -->

\`\`\`sh
npm run bench:fleet            # a fleet of gates against the documented limits, on a fake clock
\`\`\`

The results are on another page: [fleets](fleet.md).
`;
}
