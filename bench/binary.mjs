import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { writeExecutable } from '../scripts/executable.mjs';
import { installNode } from '../scripts/node-builds.mjs';
import { bin, withService } from './gate.mjs';
import { describeMachine, loadNow } from './machine.mjs';
import { npm } from './npm.mjs';
import { runProcess } from './process.mjs';
import { inTurn, ratios, summary } from './statistics.mjs';

const buildScript = fileURLToPath(new URL('../scripts/build-binary.mjs', import.meta.url));
const executable = fileURLToPath(new URL('../dist/binary/linux-x64/rungate', import.meta.url));
const nodeVersion = readFileSync(new URL('../scripts/binary-node-version', import.meta.url), 'utf8').trim();

/** The packages for Linux, x64, of other tools that are one file. */
const others = ['@stripe/cli-linux-x64', '@sentry/cli-linux-x64'];

/** Returns the bytes of a file in an archive as `tar -cJ` writes it. */
function packedBytes(file) {
  const { stdout, status } = spawnSync('sh', ['-c', 'xz -6 -T2 -c "$0" | wc -c', file], { encoding: 'utf8' });
  if (status !== 0) throw new Error('xz is missing');
  return Number(stdout);
}

/** The peak in MiB of one process, by GNU time: an executable takes no `--require`. */
async function peakOf(command, args, env) {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-peak-'));
  try {
    const file = join(folder, 'peak');
    await runProcess('/usr/bin/time', ['-f', '%M', '-o', file, command, ...args], { env });
    return Number(readFileSync(file, 'utf8')) / 1024;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Installs a package and returns its largest file, which is the tool. */
async function installOther(name, folder) {
  const options = { cache: join(folder, 'cache'), cwd: folder, timeoutMs: 240_000 };
  await npm('npm', ['install', '--prefix', folder, '--ignore-scripts', name], options);
  const home = join(folder, 'node_modules', name);
  const { version } = JSON.parse(readFileSync(join(home, 'package.json'), 'utf8'));
  const files = readdirSync(home, { recursive: true })
    .map((path) => join(home, path))
    .filter((path) => statSync(path).isFile());
  const [file] = files.toSorted((a, b) => statSync(b).size - statSync(a).size);
  return { name, version, file };
}

/** Measures the executable for Linux beside the package with the same Node, and beside other tools of one file. */
export async function measureBinary(rounds) {
  const machine = describeMachine();
  const node = installNode(nodeVersion);
  if (!existsSync(executable)) execFileSync(process.execPath, [buildScript], { stdio: 'ignore' });
  const folder = mkdtempSync(join(tmpdir(), 'rungate-bench-'));
  try {
    const oneLine = join(folder, 'one-line');
    writeFileSync(join(folder, 'main.cjs'), "process.stdout.write('1.0.0\\n');\n");
    await writeExecutable(oneLine, { main: join(folder, 'main.cjs') }, node);
    const tools = [];
    for (const name of others) tools.push(await installOther(name, folder));
    const found = await withService(async (url) => {
      const env = { RUNGATE_API_URL: url, RUNGATE_API_KEY: 'rg_bench', HOME: folder };
      const wait = ['run', 'wait', 'run_1', '--quiet'];
      const commands = {
        oneLine: [oneLine],
        version: [executable, '--version'],
        packageVersion: [node, bin, '--version'],
        wait: [executable, ...wait],
        packageWait: [node, bin, ...wait],
        ...Object.fromEntries(tools.map(({ name, file }) => [name, [file, '--version']])),
      };
      const each = (measure) =>
        Object.fromEntries(
          Object.entries(commands).map(([name, [file, ...args]]) => [name, () => measure(file, args)]),
        );
      const ms = await inTurn(
        rounds,
        each(async (file, args) => (await runProcess(file, args, { env })).ms),
      );
      const mib = await inTurn(
        Math.min(rounds, 5),
        each((file, args) => peakOf(file, args, env)),
      );
      return { ms, mib };
    });
    const files = [{ name: 'rungate', version: nodeVersion, file: executable }, ...tools];
    return {
      machine: { ...machine, node: `v${nodeVersion}`, loadAfter: loadNow() },
      rounds,
      versionOverOneLine: ratios(found.ms.version, found.ms.oneLine),
      waitOverPackage: ratios(found.ms.wait, found.ms.packageWait),
      ms: Object.fromEntries(Object.entries(found.ms).map(([name, values]) => [name, summary(values)])),
      mib: Object.fromEntries(Object.entries(found.mib).map(([name, values]) => [name, summary(values)])),
      files: files.map(({ name, version, file }) => {
        return { name, version, bytes: statSync(file).size, packedBytes: packedBytes(file) };
      }),
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
