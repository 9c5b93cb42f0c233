// Runs the test suite on each supported Node version, and the built file on the oldest Node that it supports.
//
//   npm run test:matrix                     everything: the suite on 20, 22, 24 and 26, the smoke test on 20.18.1
//   node scripts/matrix.mjs 24 26           the suite on these versions
//   node scripts/matrix.mjs smoke           only the smoke test, as in CI
//
// Build first (`npm run test:matrix` does).
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installNode } from './node-builds.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const bin = join(root, 'bin/rungate.js');

const lines = ['20', '22', '24', '26'];
/** The oldest Node that the built file supports, from `engines` of package.json. */
const oldest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).engines.node.replace('>=', '');

/** Returns an environment in which `node` and `#!/usr/bin/env node` start this Node. */
const withNode = (node, more = {}) => ({
  ...process.env,
  PATH: [dirname(node), process.env.PATH].join(delimiter),
  ...more,
});
const versionOf = (node) => spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout.trim();

/** Runs the behaviour and end-to-end tests. The type tests do not depend on the Node version. */
function suite(line) {
  const node = installNode(line);
  const folder = mkdtempSync(join(tmpdir(), 'rungate-matrix-'));
  const began = performance.now();
  try {
    const file = join(folder, 'report.json');
    const args = ['node_modules/vitest/vitest.mjs', 'run', '--project', 'runtime', '--project', 'e2e'];
    const reporters = ['--reporter=json', `--outputFile.json=${file}`];
    const run = spawnSync(node, [...args, ...reporters], {
      cwd: root,
      env: withNode(node, { NO_COLOR: '1' }),
      stdio: ['ignore', 'inherit', 'inherit'],
    });
    const report = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
    const counts =
      report === undefined
        ? 'no report'
        : `${report.numPassedTests} passed, ${report.numFailedTests} failed, ${report.numPendingTests + report.numTodoTests} skipped`;
    const failures = (report?.testResults ?? []).flatMap((result) => [
      ...(result.status === 'failed' && result.assertionResults.length === 0 ? [result.name] : []),
      ...result.assertionResults
        .filter((test) => test.status === 'failed')
        .map((test) => `${test.fullName}: ${String(test.failureMessages[0]).split('\n')[0]}`),
    ]);
    const ok = run.status === 0 && report?.success === true && report.numPassedTests > 0;
    return { what: 'suite', node: versionOf(node), ok, counts, failures, ms: performance.now() - began };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Tests the built file without a test runner, which would need a newer Node. */
function smoke(version) {
  const node = installNode(version);
  const home = mkdtempSync(join(tmpdir(), 'rungate-smoke-'));
  const began = performance.now();
  const failures = [];
  let passed = 0;
  const check = (name, args, code, { shows = /(?:)/, more = {} } = {}) => {
    const env = withNode(node, { HOME: home, XDG_CONFIG_HOME: home, CI: '', NO_COLOR: '1', ...more });
    const ended = spawnSync(node, [bin, ...args], { cwd: home, env, encoding: 'utf8', timeout: 30_000 });
    if (ended.status === code && shows.test(ended.stdout + ended.stderr)) passed += 1;
    else failures.push(`${name}: ${ended.status} instead of ${code}\n${ended.stdout}${ended.stderr}`);
  };
  const gate = ['run', 'trigger', '--project', 'shop', '--process', 'checkout', '--wait'];
  const on = (outcome, ...more) => [
    ...['mock', 'exec', '--outcome', outcome, '--duration', '300ms', '--retry-after', '0.1', '--'],
    ...[node, bin, ...gate, '--strict', ...more],
  ];
  try {
    check('--version', ['--version'], 0, { shows: /^\d+\.\d+\.\d+\s*$/ });
    check('--help', ['--help'], 0, { shows: /Usage: rungate/ });
    check('passed', on('passed'), 0);
    check('passed, as JSON', on('passed', '--json'), 0, { shows: /"state": ?"completed"/ });
    check('failed', on('failed'), 1);
    check('blocked', on('blocked'), 2);
    check('stuck until the timeout', on('stuck', '--timeout', '1s'), 3);
    check('cancelled', on('cancelled'), 4);
    check('no key', [...gate, '--api-url', 'http://127.0.0.1:9'], 6);
    check('nothing is listening', [...gate, '--api-url', 'http://127.0.0.1:9', '--timeout', '2s'], 7, {
      more: { RUNGATE_API_KEY: 'k' },
    });
    check('a wrong flag', ['run', 'wait', '--no-such-flag'], 64);
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
  const counts = `${passed} passed, ${failures.length} failed`;
  const ok = failures.length === 0;
  return { what: 'smoke', node: versionOf(node), ok, counts, failures, ms: performance.now() - began };
}

const requested = process.argv.slice(2);
const results = [];
for (const one of requested.length > 0 ? requested : ['smoke', ...lines]) {
  try {
    results.push(one === 'smoke' ? smoke(oldest) : suite(one));
  } catch (error) {
    results.push({ what: one, node: '-', ok: false, counts: 'not run', failures: [error.message], ms: 0 });
  }
}

console.log('');
for (const { what, node, ok, counts, failures, ms } of results) {
  console.log(`${ok ? 'ok    ' : 'FAILED'}  ${what}  ${node}  ${counts}  (${Math.round(ms / 1000)} s)`);
  for (const failure of failures) console.log(`        ${failure}`);
}
process.exitCode = results.every(({ ok }) => ok) ? 0 : 1;
