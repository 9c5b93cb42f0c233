// Writes what V8 compiles for a gate, so that a single executable need not compile it at each start. The Node of the executable
// runs it with a service in its environment: node code-cache.cjs <file>
const { readFileSync, writeFileSync } = require('node:fs');
const { wrap } = require('node:module');
const { join } = require('node:path');
const { Script } = require('node:vm');

const filename = 'cli.cjs';
const source = readFileSync(join(__dirname, '../dist/binary', filename), 'latin1');
const script = new Script(wrap(source), { filename });
const loaded = { exports: {} };
script.runInThisContext()(loaded.exports, require, loaded);
process.on('exit', () => writeFileSync(process.argv[2], script.createCachedData()));
// V8 keeps the functions that have run by the end.
loaded.exports.start(['gate', '--project', 'shop', '--process', 'checkout', '--config', 'none']);
