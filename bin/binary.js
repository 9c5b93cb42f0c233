// The first stage of a single executable. It loads the rest, dist/binary/cli.cjs, only if the command needs it.
import { writeSync } from 'node:fs';
import { wrap } from 'node:module';
import { getAsset, getRawAsset } from 'node:sea';
import { Script } from 'node:vm';
import { version } from '../src/version.ts';

// As in rungate.js: never Node's own 1, which means that the run failed.
process.exitCode = 70;

const argv = process.argv.slice(2);
const build = `${version} (binary, Node ${process.versions.node})`;

function loadCli() {
  const filename = 'cli.cjs';
  // What V8 compiled when the executable was built. V8 ignores it if it does not fit this processor or these flags.
  const cachedData = Buffer.from(getRawAsset('code-cache'));
  const load = new Script(wrap(getAsset(filename, 'latin1')), { filename, cachedData }).runInThisContext();
  const cli = { exports: {} };
  load(cli.exports, require, cli);
  return cli.exports;
}

// As in rungate.js.
function printsVersion() {
  if (argv.length !== 1 || !['--version', '-V', 'version'].includes(argv[0])) return false;
  try {
    writeSync(1, `${build}\n`);
    process.exitCode = 0;
    return true;
  } catch {
    return false;
  }
}

if (!printsVersion()) loadCli().start(argv, { program: [process.execPath], version: build });
