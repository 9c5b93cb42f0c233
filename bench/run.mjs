// What rungate costs, against what would be there without it: one run, one page.
// npm run bench [-- --rounds 21 --no-write --peers --only gate,client,npx,peers]
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { judge } from './aims.mjs';
import { measureClient } from './client.mjs';
import { measureGate } from './gate.mjs';
import { describeMachine, loadNow } from './machine.mjs';
import { measureNpx } from './npx.mjs';
import { performancePage } from './page.mjs';
import { measurePeers } from './peers.mjs';

/** With fewer, a percentile is hardly more than the slowest run. */
const fewestRounds = 15;

const page = new URL('../docs/performance.md', import.meta.url);
const keptPeers = new URL('peers.json', import.meta.url);

const has = (name) => process.argv.includes(name);
function option(name, otherwise) {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : process.argv[at + 1];
}

const rounds = Number(option('--rounds', '21'));
if (!Number.isInteger(rounds) || rounds < 1) throw new Error('--rounds is a whole number from 1 up');
const usual = ['gate', 'client', 'npx'];
const parts = option('--only', [...usual, ...(has('--peers') ? ['peers'] : [])].join(',')).split(',');
const write = !has('--no-write') && rounds >= fewestRounds;
const measure = { gate: measureGate, client: measureClient, npx: measureNpx, peers: measurePeers };

const found = { machine: describeMachine(), rounds };
const { load, cores } = found.machine;
if (load >= cores)
  console.error(`this machine is busy (load ${load}, ${cores} cores): the figures will be of that`);
for (const part of parts) {
  if (measure[part] === undefined) throw new Error(`--only: there is no ${part}`);
  console.error(`measuring ${part}, ${rounds} rounds…`);
  found[part] = await measure[part](rounds);
}
found.machine.loadAfter = loadNow();
if (found.peers === undefined) {
  if (existsSync(keptPeers)) found.peers = JSON.parse(readFileSync(keptPeers, 'utf8'));
} else if (write) {
  writeFileSync(keptPeers, `${JSON.stringify(found.peers, null, 2)}\n`);
}

if (usual.every((part) => found[part] !== undefined)) {
  const text = performancePage(found);
  console.log(text);
  if (write) writeFileSync(page, text);
  if (judge(found).some(({ met }) => !met)) process.exitCode = 1;
} else {
  // A part alone is for whoever works on it: the page is of one run.
  const { peers, ...rest } = found;
  console.log(JSON.stringify(parts.includes('peers') ? found : rest, null, 2));
}
