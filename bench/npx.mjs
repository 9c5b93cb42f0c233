import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderBytes, npm } from './npm.mjs';
import { inTurn } from './statistics.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** An address where nothing listens, so that any request to a registry fails. */
const nowhere = {
  npm_config_registry: 'http://127.0.0.1:9/',
  // npm looks up `@redis/client`, an optional peer, and would retry for a minute.
  npm_config_fetch_retries: '0',
};

const atInstall = ['preinstall', 'install', 'postinstall', 'prepare'];

/** Packs the project into `folder` and returns the path of the tarball. */
async function pack(folder) {
  await npm('npm', ['pack', '--silent', '--pack-destination', folder], {
    cache: join(folder, 'pack-cache'),
    cwd: root,
    env: nowhere,
  });
  return join(
    folder,
    readdirSync(folder).find((name) => name.endsWith('.tgz')),
  );
}

/** Returns the packages that npx installed in a cache, their size in bytes, and their install scripts. */
function installed(cache) {
  const [name] = readdirSync(join(cache, '_npx'));
  const modules = join(cache, '_npx', name, 'node_modules');
  const packages = readdirSync(modules).filter((one) => !one.startsWith('.'));
  const scripts = packages.flatMap((one) => {
    const manifest = JSON.parse(readFileSync(join(modules, one, 'package.json'), 'utf8'));
    return atInstall.filter((script) => manifest.scripts?.[script] !== undefined);
  });
  return {
    packages: packages.length,
    installedBytes: packages.reduce((sum, one) => sum + folderBytes(join(modules, one)), 0),
    scripts: scripts.length,
  };
}

/** Measures `npx` from the packed tarball without a registry: milliseconds for each case, and sizes in bytes. */
export async function measureNpx(rounds) {
  const folder = mkdtempSync(join(tmpdir(), 'rungate-bench-'));
  try {
    const tarball = await pack(folder);
    const cwd = join(folder, 'project');
    mkdirSync(cwd);
    const npx = async (cache) => {
      const args = ['--yes', '--package', tarball, '--', 'rungate', '--version'];
      const { ms, out } = await npm('npx', args, { cache, cwd, env: nowhere });
      if (!/^\d+\.\d+\.\d+\s*$/.test(out)) throw new Error(`npx printed ${out}`);
      return ms;
    };
    const [empty, filled] = [join(folder, 'empty'), join(folder, 'filled')];
    await npx(filled);
    const ms = await inTurn(rounds, {
      npm: async () => (await npm('npm', ['--version'], { cache: filled, cwd })).ms,
      again: () => npx(filled),
      empty: () => {
        rmSync(empty, { recursive: true, force: true });
        return npx(empty);
      },
    });
    return { ms, tarballBytes: statSync(tarball).size, ...installed(empty) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
