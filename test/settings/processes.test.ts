import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build, type Plugin } from 'esbuild';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { profilesPath } from '../../src/settings/locate.ts';
import { readProfiles } from '../../src/settings/profiles.ts';
import { turns } from '../until.ts';

/** Leaves out the text of the mock's page: no test here opens it. */
const emptyPage: Plugin = {
  name: 'empty-page',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /\?raw$/ }, ({ path }) => ({ path, namespace: 'raw' }));
    onLoad({ filter: /.*/, namespace: 'raw' }, () => ({ contents: '', loader: 'text' }));
  },
};

/** The path of the bundled command line, which these tests run as real processes. */
let program: string;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-processes-'));
  program = join(folder, 'program.mjs');
  await build({
    stdin: {
      contents: `import { start } from './src/cli/start.ts'; await start(process.argv.slice(2));`,
      resolveDir: fileURLToPath(new URL('../..', import.meta.url)),
    },
    banner: {
      js: "import { createRequire as r } from 'node:module';const require = r(import.meta.url);",
    },
    bundle: true,
    plugins: [emptyPage],
    platform: 'node',
    format: 'esm',
    outfile: program,
    logLevel: 'error',
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Returns the path of the profiles file, which depends on the system. */
const profilesFile = (home: string) =>
  profilesPath({ env: { HOME: home }, cwd: home, platform: process.platform }) ?? '';

interface Ended {
  code: number | null;
  out: string;
  err: string;
}

function rungate(home: string, args: readonly string[], stdin = ''): Promise<Ended> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { PATH: process.env.PATH, HOME: home },
    cwd: home,
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => {
    out += chunk;
  });
  child.stderr.on('data', (chunk) => {
    err += chunk;
  });
  child.stdin.end(stdin);
  return new Promise((resolve) => child.once('close', (code) => resolve({ code, out, err })));
}

it('loses no profile and never exposes a partial file when ten processes write at once', async () => {
  const home = join(folder, 'racing');
  mkdirSync(home);
  const path = profilesFile(home);
  const writers = Array.from({ length: 10 }, (_, index) =>
    index % 2 === 0
      ? rungate(home, ['config', 'set', 'project', `shop-${index}`, '--profile', `p${index}`])
      : rungate(
          home,
          ['login', '--token', '--api-url', 'http://127.0.0.1:1', '--profile', `p${index}`],
          `t-${index}\n`,
        ),
  );
  let reads = 0;
  let going = true;
  const reading = (async () => {
    while (going) {
      try {
        readProfiles(path, readFileSync(path, 'utf8'));
        reads++;
      } catch (error) {
        // The file does not exist before the first write; any other error means a partial file.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
      }
      await turns(1);
    }
  })();
  const ended = await Promise.all(writers);
  going = false;
  await reading;
  expect(ended.filter(({ code }) => code !== 0)).toEqual([]);
  expect(reads).toBeGreaterThan(0);
  const profiles = readProfiles(path, readFileSync(path, 'utf8'));
  expect(Object.keys(profiles)).toHaveLength(10);
  for (let index = 0; index < 10; index++) {
    const { settings, secrets } = profiles[`p${index}`] ?? {};
    if (index % 2 === 0) expect(settings).toEqual({ project: `shop-${index}` });
    else expect(secrets?.token).toEqual({ value: `t-${index}`, origin: 'http://127.0.0.1:1' });
  }
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(dirname(path))).toEqual(['profiles.json']);
});

// util-linux's script(1) gives a command a terminal; on other systems it takes different options.
const onLinux = it.skipIf(process.platform !== 'linux');

onLinux('does not echo a secret typed at a terminal', async () => {
  const home = join(folder, 'typing');
  mkdirSync(home);
  const command = `${process.execPath} ${program} login --api-url http://127.0.0.1:1`;
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env.PATH, HOME: home },
  });
  let shown = '';
  child.stdout.on('data', (chunk) => {
    shown += chunk;
    if (/API key for http:\/\/127\.0\.0\.1:1: $/.test(shown)) child.stdin.write('k3y-typed\r');
  });
  const code = await new Promise((resolve) => child.once('close', resolve));
  expect(shown).not.toContain('k3y');
  expect(shown).toMatch(/saved the API key for http:\/\/127\.0\.0\.1:1 in profile default/);
  expect(code).toBe(0);
  const profiles = readProfiles('p', readFileSync(profilesFile(home), 'utf8'));
  expect(profiles.default?.secrets.apiKey?.value).toBe('k3y-typed');
});
