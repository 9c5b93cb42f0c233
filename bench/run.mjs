// Measures what rungate costs compared with a script, and writes docs/project/performance.md.
// npm run bench [-- --rounds 21 --no-write --peers --binary --only gate,client,npx,peers,binary]
import { readFileSync, writeFileSync } from 'node:fs';
import { judge } from './aims.mjs';
import { measureBinary } from './binary.mjs';
import { measureClient } from './client.mjs';
import { measureGate } from './gate.mjs';
import { has, option } from './harness.mjs';
import { describeMachine, loadNow } from './machine.mjs';
import { measureNpx } from './npx.mjs';
import { performancePage } from './page.mjs';
import { measurePeers } from './peers.mjs';

/** With fewer rounds, a percentile is hardly more than the slowest run. */
const fewestRounds = 15;

const page = new URL('../docs/project/performance.md', import.meta.url);
/** The parts that need the registry are measured on demand. The page keeps their sections otherwise. */
const rare = ['peers', 'binary'];

const rounds = Number(option('rounds', '21'));
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds must be a whole number of at least 1');
const defaultParts = ['gate', 'client', 'npx'];
const onDemand = rare.filter((part) => has(part));
const parts = option('only', [...defaultParts, ...onDemand].join(',')).split(',');
const write = !has('no-write') && rounds >= fewestRounds;
const measure = {
  gate: measureGate,
  client: measureClient,
  npx: measureNpx,
  peers: measurePeers,
  binary: measureBinary,
};

const found = { machine: describeMachine(), rounds };
const { load, cores } = found.machine;
if (load >= cores)
  console.error(`this machine is busy (load ${load}, ${cores} cores): the figures will be unreliable`);
for (const part of parts) {
  if (measure[part] === undefined) throw new Error(`--only: unknown part ${part}`);
  console.error(`measuring ${part}, ${rounds} rounds…`);
  found[part] = await measure[part](rounds);
}
found.machine.loadAfter = loadNow();

if (defaultParts.every((part) => found[part] !== undefined)) {
  const text = performancePage(found, readFileSync(page, 'utf8'));
  console.log(text);
  if (write) writeFileSync(page, text);
  if (judge(found).some(({ met }) => !met)) process.exitCode = 1;
} else {
  // The page needs all parts from one run, so print a single part as JSON.
  const measured = ['machine', 'rounds', ...parts];
  console.log(JSON.stringify(Object.fromEntries(measured.map((name) => [name, found[name]])), null, 2));
}
