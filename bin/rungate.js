#!/usr/bin/env node
// Only syntax that very old Nodes can parse (no top-level await, no `?.`), so that they reach the version check below.
import module from 'node:module';

// Importing node:fs would load all of Node's streams first.
const require = module.createRequire(import.meta.url);

// Until rungate has ended: never Node's own 1, which means that the run failed.
process.exitCode = 70;

function cannotStart(error) {
  if (error && error.code === 'ERR_MODULE_NOT_FOUND' && /\/dist\/cli\.js$/.test(error.url)) {
    // Most likely a clone that has not been built yet.
    console.error('error: rungate is not built: its folder has no dist');
    console.error('  → in a clone, run npm ci && npm run build; otherwise install the package again');
    return;
  }
  console.error('error: this is a bug in rungate; please report it with the lines below');
  console.error(error);
}

/** The oldest supported Node, the same as `engines` in package.json. */
const oldest = [20, 18, 1];

function isTooOld(version) {
  const parts = version.split('.').map(Number);
  const differing = oldest.findIndex((part, index) => part !== parts[index]);
  return differing >= 0 && parts[differing] < oldest[differing];
}

/** Installers and monitors run this most; it needs no other module. If it fails, the command itself says why. */
function printsVersion(argv) {
  if (argv.length !== 1 || !['--version', '-V', 'version'].includes(argv[0])) return false;
  try {
    const { version } = require('../package.json');
    require('node:fs').writeSync(1, `${version}\n`);
    process.exitCode = 0;
    return true;
  } catch (_error) {
    return false;
  }
}

async function run(argv) {
  if (printsVersion(argv)) return;
  // Otherwise Node 20 waits at exit until V8 has optimised undici's WebAssembly parser, which takes 70 ms and 30 MiB.
  if (process.version.startsWith('v20.')) (await import('node:v8')).setFlagsFromString('--liftoff-only');
  const { start } = await import('../dist/cli.js');
  await start(argv);
}

if (isTooOld(process.version.slice(1))) {
  console.error(`error: rungate needs Node ${oldest.join('.')} or later, and this is ${process.version}`);
  console.error(
    '  → install a newer Node, or choose one in the pipeline: image node:24, or actions/setup-node',
  );
  process.exitCode = 78;
} else {
  // Node 22.1 and later can keep compiled code between runs, in the temporary folder. Below /proc, Node would try for ever.
  if (module.enableCompileCache && !/^\/proc\//.test(process.env.TMPDIR)) module.enableCompileCache();
  run(process.argv.slice(2)).catch(cannotStart);
}
