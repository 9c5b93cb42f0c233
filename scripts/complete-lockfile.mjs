// Adds the optional packages of other platforms that npm left out of package-lock.json.
//
// npm writes no entry for an optional package that the registry does not have (a mirror may have only some platforms),
// and `npm ci` then refuses the whole file as incomplete. The entries added here name the platform of such a package, so
// that npm skips it on this platform and installs it on its own.
// Run it after every `npm install` that changes dependencies: node scripts/complete-lockfile.mjs
import { readFileSync, writeFileSync } from 'node:fs';

const file = new URL('../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(file, 'utf8'));

const systems = [
  'aix',
  'android',
  'darwin',
  'freebsd',
  'linux',
  'netbsd',
  'openbsd',
  'openharmony',
  'sunos',
  'win32',
];
const processors = { armv7: 'arm', arm: 'arm', loong64: 'loong64', wasm32: 'wasm32' };

/** Returns the platform of a package: linux, arm64 and musl for `@rollup/rollup-linux-arm64-musl`. */
function platform(name) {
  const words = name.split('/').at(-1).split('-');
  const os = systems.find((system) => words.includes(system));
  const cpu = words.map(
    (word) =>
      processors[word] ?? (/^(arm64|x64|ia32|ppc64|riscv64|s390x|mips64el)$/.test(word) ? word : undefined),
  );
  const processor = cpu.find((word) => word !== undefined);
  if (os === undefined || processor === undefined) return undefined;
  const libc = words.some((word) => word.startsWith('musl'))
    ? 'musl'
    : words.some((word) => word.startsWith('gnu'))
      ? 'glibc'
      : undefined;
  return { os: [os], cpu: [processor], ...(os === 'linux' && libc !== undefined ? { libc: [libc] } : {}) };
}

let added = 0;
for (const [place, entry] of Object.entries(lock.packages)) {
  for (const [name, version] of Object.entries(entry.optionalDependencies ?? {})) {
    const nested = `${place}/node_modules/${name}`;
    const top = `node_modules/${name}`;
    if (lock.packages[top] !== undefined || lock.packages[nested] !== undefined) continue;
    const target = platform(name);
    if (target === undefined || !/^\d+\.\d+\.\d+$/.test(version)) {
      console.log(`not added, since its name has no platform: ${name}@${version}`);
      continue;
    }
    const { dev, license } = entry;
    lock.packages[top] = {
      version,
      ...(dev ? { dev } : {}),
      ...(license ? { license } : {}),
      optional: true,
      ...target,
    };
    added += 1;
  }
}
const [root, ...rest] = Object.entries(lock.packages);
lock.packages = Object.fromEntries([root, ...rest.sort(([a], [b]) => a.localeCompare(b, 'en'))]);
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${added} added`);
