import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bin } from './gate.mjs';
import { describeMachine, loadNow } from './machine.mjs';
import { folderBytes, npm } from './npm.mjs';
import { timeOf } from './process.mjs';
import { inTurn, ratios, summary } from './statistics.mjs';

/** Packages with the names of their commands. */
const peers = [
  ['@datadog/datadog-ci', 'datadog-ci'],
  ['checkly', 'checkly'],
];
const minute = 60_000;
const mostMs = 8 * minute;

/** Installs a package as a user would, with an empty cache. Counts its install scripts without running them. */
async function install(name, folder) {
  const options = { cache: join(folder, 'cache'), cwd: folder, timeoutMs: mostMs };
  const { ms } = await npm('npm', ['install', '--prefix', folder, '--ignore-scripts', name], options);
  const modules = join(folder, 'node_modules');
  const { packages } = JSON.parse(readFileSync(join(modules, '.package-lock.json'), 'utf8'));
  return {
    installMs: Math.round(ms),
    packages: Object.keys(packages).length,
    installedBytes: folderBytes(modules),
    scripts: Object.values(packages).filter((one) => one.hasInstallScript === true).length,
  };
}

/** Rounds figures to a meaningful precision. */
function rounded(figures) {
  return Object.fromEntries(
    Object.entries(figures).map(([key, value]) => [key, Math.round(value * 100) / 100]),
  );
}

async function measurePeer([name, command], rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-peer-'));
  let step = 'npm install';
  try {
    const found = await install(name, folder);
    step = '--version';
    const home = join(folder, 'node_modules', name);
    const { version, bin: commands } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
    const file = join(home, typeof commands === 'string' ? commands : commands[command]);
    const ms = await inTurn(rounds, {
      node: () => timeOf(['-e', '0']),
      rungate: () => timeOf([bin, '--version']),
      peer: () => timeOf([file, '--version'], { timeoutMs: minute }),
    });
    const times = {
      versionMs: rounded(summary(ms.peer)),
      overNode: rounded(ratios(ms.peer, ms.node)),
      overRungate: rounded(ratios(ms.peer, ms.rungate)),
    };
    return { name, version, ...found, rounds, ...times };
  } catch (error) {
    // Only the first part of the error: npm's messages contain folders and hosts.
    return { name, failed: `${step}: ${String(error.message).split(':')[0]}` };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Measures other tools that gate a pipeline on remote tests. It needs the registry, so it runs only on demand. */
export async function measurePeers(rounds) {
  const machine = describeMachine();
  const found = [];
  for (const peer of peers) found.push(await measurePeer(peer, rounds));
  return { machine: { ...machine, loadAfter: loadNow() }, peers: found };
}
