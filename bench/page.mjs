import { judge } from './aims.mjs';
import { ratios, summary } from './statistics.mjs';

const mib = (bytes) => (bytes / 2 ** 20).toFixed(1);
const count = (number) => new Intl.NumberFormat('en-US').format(number);
const spread = ({ low, high }, digits) => `${low.toFixed(digits)} – ${high.toFixed(digits)}`;
/** Median and spread, as two cells. */
const two = (one, digits) => [one.median.toFixed(digits), spread(one, digits)];
const both = (values, digits) => two(summary(values), digits);

function table(head, rows) {
  // The first column is text, the others are figures.
  const line = head.map((_, at) => (at === 0 ? '---' : '---:'));
  return [head, line, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** The aims in one table: what was wanted, what it is, and whether that is enough. */
export function aimsTable(aims) {
  const wanted = ({ atMost, atLeast }) =>
    atMost === undefined ? `at least ${atLeast}` : `at most ${count(atMost)}`;
  const cells = ({ is }) =>
    is.low === is.high && Number.isInteger(is.median) ? [count(is.median), ''] : two(is, 2);
  const rows = aims.map((aim) => [aim.of, wanted(aim), ...cells(aim), aim.met ? 'met' : '**not met**']);
  return table(['what', 'aim', 'measured', '10 – 90 %', ''], rows);
}

const commands = {
  node: '`node -e 0`',
  version: '`rungate --version`',
  fetch: 'three lines with `fetch`',
  nodeHttp: 'a few lines with `node:http`',
  wait: '`rungate run wait`',
};

function gateTable({ ms, mib: peaks }) {
  const rows = Object.entries(commands).map(([key, name]) => [
    name,
    ...both(ms[key], 0),
    ...both(peaks[key], 1),
  ]);
  return table(['whole process', 'ms', '10 – 90 %', 'peak MiB', '10 – 90 %'], rows);
}

function clientTable(client) {
  const rows = Object.entries(client).flatMap(([width, phases]) =>
    Object.entries(phases).flatMap(([phase, { ms, busyMs, mib: peaks }]) => {
      const at = `${width === '1' ? 'one at a time' : `${width} at once`}, ${phase === 'first' ? 'from the first call on' : 'warm'}`;
      return ['undici', 'rungate'].map((who) => {
        const perSecond = summary(ms[who].map((one) => 1e6 / one));
        const name = who === 'undici' ? '`undici.request` and `JSON.parse`' : '`client.run.status`';
        const ratio = who === 'undici' ? '' : ratios(ms.undici, ms.rungate).median.toFixed(2);
        return [
          `${name}, ${at}`,
          ...two(perSecond, 0),
          ratio,
          both(busyMs[who], 0)[0],
          both(peaks[who], 1)[0],
        ];
      });
    }),
  );
  return table(['a thousand reads', 'reads/s', '10 – 90 %', 'over undici', 'processor ms', 'peak MiB'], rows);
}

const npxWays = {
  npm: '`npm --version`, for comparison',
  empty: '`npx` from the tarball, empty cache',
  again: 'the same again',
};

function npxTable({ ms }) {
  const rows = Object.entries(npxWays).map(([key, name]) => [name, ...both(ms[key], 0)]);
  return table(['whole process', 'ms', '10 – 90 %'], rows);
}

function machineText({ date, node, cpu, cores, memoryGiB, system, load, loadAfter }) {
  return `${date}, Node ${node}, ${system}, ${cpu}, ${cores} cores, ${memoryGiB} GiB; load average ${load} at the start, ${loadAfter} at the
end. A benchmark alone makes about 1: with more than there are cores, other programs slowed these figures down.`;
}

function peersPart(kept) {
  if (kept === undefined) return 'Not measured yet: `npm run bench -- --peers`.';
  const rows = kept.peers
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
  const more = ['packages', 'with scripts at install', 'MiB', 'install, s'];
  const failed = kept.peers
    .filter((peer) => peer.failed !== undefined)
    .map((peer) => `\n\n${peer.name} could not be measured (${peer.failed}).`);
  return `${table([...head, ...more], rows)}${failed.join('')}

Each in the version that npm chooses for this Node, installed once, with an empty npm cache and without its scripts: that time
is mostly the network’s. They do more than \`rungate\` does.

${machineText(kept.machine)}`;
}

/**
 * docs/performance.md.
 * @param found what gate, client and npx measured, `rounds` of each, with the machine; `peers` is what was kept of them
 */
export function performancePage({ machine, rounds, gate, client, npx, peers }) {
  const aims = judge({ machine, gate, client, npx });
  const missed = aims.filter(({ met }) => !met).length;
  const verdict = missed === 0 ? 'Every aim is met.' : `${missed} of ${aims.length} aims are not met.`;
  return `# Performance

<!-- Written by \`npm run bench\`: change bench/, and run it again. -->

What \`rungate\` costs a pipeline, against what a script without it would cost. ${verdict}

${aimsTable(aims)}

Each figure is a median of ${rounds} runs, with the tenth and the ninetieth percentile. All were run in turn, each in a process of
its own, on the built file. A ratio is made round by round, and the median and the spread are those of the ratios.

${machineText(machine)}

## One question to the service

The service is a \`node:http\` server on the same machine, in a process of its own, and the run has ended. The scripts are
[fetch.mjs](../bench/compared/fetch.mjs) and [node-http.mjs](../bench/compared/node-http.mjs): they check nothing, try once
and wait for ever. Memory is what the system counts as the most that the process held.

${gateTable(gate)}

## The client

A thousand status reads: the first thousand of a process, and a thousand after ten thousand.

${clientTable(client)}

## Installing

The tarball has ${count(npx.tarballBytes)} bytes, and installed it takes ${mib(npx.installedBytes)} MiB. It depends on nothing: here the registry is an address
where nothing listens.

${npxTable(npx)}

## Other tools

${peersPart(peers)}

## Run it

<!-- not run: takes minutes of a machine that does nothing else -->

\`\`\`sh
npm run bench                  # prints this page, and writes it
npm run bench -- --no-write    # only prints it
npm run bench -- --rounds 31   # 21 when not given; with fewer than 15 the page is not written
npm run bench -- --peers       # measures the other tools again, from the registry, and keeps that in bench/peers.json
\`\`\`

It ends with 1 when an aim is not met.

Other benchmarks print their figures:

<!-- not run: takes minutes of a machine that does nothing else -->

\`\`\`sh
npm run bench:pages            # a million items through --all, against a bare loop
npm run bench:verify           # a 1 GiB file through webhooks verify
npm run bench:webhook          # verifying one delivery, against other libraries
npm run bench:fleet            # a fleet of gates against the documented limits, on a fake clock
\`\`\`

What came of them: [webhooks verify](webhooks-cli.md#the-rate), [webhooks](webhooks.md), [fleets](fleet.md).
`;
}
