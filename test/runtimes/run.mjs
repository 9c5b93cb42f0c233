// npm run test:runtimes: tests the packed and installed package in Node, Bun, Deno and workerd. A runtime that does not start on
// this machine is reported as skipped. In CI, it writes a report for .ci/count.mjs.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'tsup';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const modules = join(here, 'node_modules');
const dist = join(here, 'dist');

const web = 'dist/webhook/index.js';
const node = 'dist/webhook/node.js';

/** The runtimes, each with the build that the conditions in `exports` select for it. */
const runtimes = [
  { name: 'Node', binary: process.execPath, args: ['main.js'], run: runMain, build: web },
  {
    name: 'Bun',
    binary: join(modules, '@oven/bun-linux-x64/bin/bun'),
    args: ['run', 'main.js'],
    run: runMain,
    build: web,
  },
  {
    name: 'Deno',
    binary: join(modules, '@deno/linux-x64-glibc/deno'),
    // Deno may only read files, for its modules.
    args: ['run', '--no-prompt', '--cached-only', '--node-modules-dir=manual', '--allow-read', 'main.js'],
    run: runMain,
    build: web,
  },
  {
    name: 'workerd',
    binary: join(modules, '@cloudflare/workerd-linux-64/bin/workerd'),
    args: ['serve', 'workerd.capnp', '--control-fd=3'],
    run: runWorkerd,
    build: web,
  },
];

/** Installs the published package into node_modules. */
function install() {
  const folder = join(modules, 'rungate');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const packed = execFileSync('npm', ['pack', '--silent', '--pack-destination', modules], {
    cwd: root,
    encoding: 'utf8',
  });
  const file = join(modules, packed.trim().split('\n').at(-1));
  execFileSync('tar', ['-xzf', file, '-C', folder, '--strip-components=1']);
  rmSync(file);
}

const shared = { config: false, silent: true, format: 'esm', outDir: dist, target: 'es2022', dts: false };

/** Bundles the tests for Node, Bun and Deno without the package, which each runtime resolves itself. */
async function bundleMain() {
  await build({ ...shared, entry: [join(here, 'main.mjs')], external: [/^rungate/], clean: true });
}

/** Bundles everything for workerd with the conditions that wrangler sets. Returns the bundled files of the package. */
async function bundleWorker() {
  await build({
    ...shared,
    entry: [join(here, 'worker.mjs')],
    noExternal: [/^rungate/],
    platform: 'browser',
    metafile: true,
    splitting: false,
    esbuildOptions(options) {
      options.conditions = ['workerd', 'worker', 'browser'];
    },
  });
  const { inputs } = JSON.parse(readFileSync(join(dist, 'metafile-esm.json'), 'utf8'));
  return Object.keys(inputs).filter((file) => file.includes('node_modules/rungate/'));
}

/** Returns the text of a stream. */
async function textOf(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

async function runMain({ binary, args }) {
  const child = spawn(binary, args, { cwd: dist, stdio: ['ignore', 'pipe', 'pipe'], timeout: 60_000 });
  const [out, problems] = await Promise.all([textOf(child.stdout), textOf(child.stderr)]);
  if (out === '') throw new Error(problems.trim() || 'no output');
  return JSON.parse(out);
}

/** Starts workerd on a free port of the loopback address, which it reports on the control pipe. */
async function runWorkerd({ binary, args }) {
  const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = (
    modules = [(name = "worker.js", esModule = embed "worker.js")],
    compatibilityDate = "2026-01-01",
  ))],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
`;
  writeFileSync(join(dist, 'workerd.capnp'), config);
  const files = await bundleWorker();
  const child = spawn(binary, args, { cwd: dist, stdio: ['ignore', 'inherit', 'pipe', 'pipe'] });
  const ended = Promise.all([textOf(child.stderr), new Promise((resolve) => child.once('close', resolve))]);
  try {
    const port = await Promise.race([
      listening(child.stdio[3]),
      ended.then(([problems]) => Promise.reject(new Error(problems.trim() || 'workerd ended'))),
    ]);
    const response = await fetch(`http://127.0.0.1:${port}/`, { signal: AbortSignal.timeout(60_000) });
    return {
      ...(await response.json()),
      runtime: execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim(),
      loaded: files.find((file) => /webhook\/(index|node)\.js$/.test(file)),
      files,
    };
  } finally {
    child.kill();
    await ended;
  }
}

async function listening(control) {
  let text = '';
  for await (const chunk of control) {
    text += chunk;
    const line = text.split('\n').find((one) => one.includes('"listen"'));
    if (line?.endsWith('}')) return JSON.parse(line).port;
  }
  throw new Error('no port');
}

/** Returns the reason why a runtime does not start, or null. */
function reasonToSkip({ binary }) {
  try {
    execFileSync(binary, ['--version'], { stdio: 'ignore', timeout: 20_000 });
    return null;
  } catch (error) {
    return error.code === 'ENOENT' ? 'not installed on this platform' : `does not start: ${error.message}`;
  }
}

async function testsOf(runtime) {
  const reason = reasonToSkip(runtime);
  if (reason !== null) return [{ name: reason, status: 'skipped' }];
  try {
    const { runtime: version, loaded, results, files = [] } = await runtime.run(runtime);
    const isExpected = loaded?.endsWith(`node_modules/rungate/${runtime.build}`);
    const nodeFiles = files.filter((file) => file.endsWith(node));
    const checks = [
      { name: `loads ${runtime.build}`, failure: isExpected ? null : `loads ${loaded}` },
      {
        name: 'does not also load the build for Node',
        failure: nodeFiles.length === 0 ? null : nodeFiles.join(),
      },
      ...results,
    ];
    console.log(
      `${runtime.name}: ${version}, ${loaded?.replace(/^.*node_modules\//, '')}, ${checks.length} tests`,
    );
    return checks.map(({ name, failure }) => ({
      name,
      status: failure === null ? 'passed' : 'failed',
      failureMessages: failure === null ? [] : [failure],
    }));
  } catch (error) {
    return [{ name: 'runs', status: 'failed', failureMessages: [String(error)] }];
  }
}

/** Checks that a web build imports and uses nothing that Workers or a browser does not have. */
function importsOf(folder) {
  const tests = [];
  const seen = new Set();
  const visit = (file) => {
    if (seen.has(file)) return;
    seen.add(file);
    const code = readFileSync(join(modules, 'rungate/dist', folder, file), 'utf8');
    for (const [, name] of code.matchAll(/(?:from|import|require)\s*\(?\s*["']([^"']+)["']/g)) {
      if (name.startsWith('./')) visit(name);
      else tests.push({ name: `imports ${name}`, status: 'failed', failureMessages: [file] });
    }
    // `process` is also a field of a run.
    if (/\b(?:Buffer|__dirname|createRequire|typeof process)\b|(?<!\.)\bprocess\s*(?:\?\.|[.[])/.test(code)) {
      tests.push({ name: 'uses nothing of Node', status: 'failed', failureMessages: [file] });
    }
  };
  visit('index.js');
  if (tests.length === 0) tests.push({ name: 'imports and uses nothing of Node', status: 'passed' });
  return tests;
}

install();
await bundleMain();
const suites = [{ name: 'The web build of rungate/webhook', tests: importsOf('webhook') }];
for (const runtime of runtimes) suites.push({ name: runtime.name, tests: await testsOf(runtime) });

const all = suites.flatMap(({ name, tests }) =>
  tests.map((test) => ({ ...test, fullName: `${name} ${test.name}` })),
);
const count = (status) => all.filter((test) => test.status === status).length;
for (const { fullName, status, failureMessages } of all) {
  if (status !== 'passed') console.log(`${status}: ${fullName} ${failureMessages?.join() ?? ''}`);
}
console.log(`${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
const success = count('failed') === 0 && count('passed') > 0;
if (process.env.CI) {
  const report = {
    numPassedTests: count('passed'),
    numFailedTests: count('failed'),
    numPendingTests: count('skipped'),
    numTodoTests: 0,
    success,
    testResults: [{ name: 'test/runtimes/run.mjs', assertionResults: all }],
  };
  writeFileSync(join(root, '.test-report-runtimes.json'), JSON.stringify(report));
}
process.exitCode = success ? 0 : 1;
