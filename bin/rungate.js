#!/usr/bin/env node
// Syntax that a Node of years ago reads too, so that it is told what is wrong: no await at the top, no `?.`.
import module from 'node:module';

// Whatever goes wrong before main() can say so is a bug: 70, and never Node's own 1, which means "failed" here.
process.exitCode = 70;
process.on('uncaughtException', (error) => {
  if (error && error.code === 'ERR_MODULE_NOT_FOUND' && /\/dist\/(cli|version)\.js$/.test(error.url)) {
    // A clone that nobody has built, far more likely than a package that lacks it.
    console.error('error: rungate is not built: its folder has no dist');
    console.error('  → in a clone: npm ci && npm run build; else install the package again');
    process.exit(70);
  }
  console.error('error: this is a bug in rungate; please report it with the lines below');
  console.error(error);
  process.exit(70);
});

/** The oldest Node that has what is used here, as package.json says under `engines`. */
const oldest = [20, 18, 1];

function isTooOld(version) {
  const parts = version.split('.').map(Number);
  const differing = oldest.findIndex((part, index) => part !== parts[index]);
  return differing >= 0 && parts[differing] < oldest[differing];
}

async function run(words) {
  if (words.length === 1 && words[0] === '--version') {
    // What monitors and installers ask for most, and the one question that needs nothing else.
    const { version } = await import('../dist/version.js');
    process.stdout.write(`${version}\n`);
    return 0;
  }
  // Node 20 does not exit before V8 has optimised the WebAssembly of undici's HTTP parser: about 70 ms and 30 MiB.
  if (process.version.startsWith('v20.')) (await import('node:v8')).setFlagsFromString('--liftoff-only');
  const { main, systemIo } = await import('../dist/cli.js');
  return main(words, systemIo);
}

if (isTooOld(process.version.slice(1))) {
  console.error(`error: rungate needs Node ${oldest.join('.')} or later, and this is ${process.version}`);
  console.error(
    '  → install a newer Node, or choose one in the pipeline: image node:24, or actions/setup-node',
  );
  process.exitCode = 78;
} else {
  // Node 22.1 and later keep compiled code between runs; older ones have no such call.
  if (module.enableCompileCache) module.enableCompileCache();
  const words = process.argv.slice(2);
  // Never process.exit: it cuts off what a pipe has not taken yet.
  run(words).then((code) => {
    process.exitCode = code;
    // But somebody has pressed TAB and waits. What was said has been taken, and what may keep us here, such as the
    // system's own search for an address, cannot be called off.
    if (words[0] === 'completion' && words[1] === '--complete') process.exit();
  });
}
