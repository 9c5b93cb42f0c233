import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import ts from 'typescript';
import { beforeAll, describe, expect, it } from 'vitest';
import { root, start } from '../e2e/built.ts';
import { folderForFile } from '../folders.ts';

const home = join(root, 'test/bundlers');
/** A project that uses the package as `npm publish` would send it. */
const project = folderForFile();

/** Uses the library, its mock and an entry of each kind, and returns the expected text. */
const app = `import { createClient, exitCodeOf, gate, HttpError, startMock } from 'rungate';
import { signSync } from 'rungate/webhook/node';
import { webhook } from 'rungate/webhook/express';
import { verifyReceipt } from 'rungate/receipt';

async function run() {
  const mock = await startMock({ duration: 0 });
  const service = { apiUrl: mock.url, apiKey: mock.apiKey, token: mock.token };
  const trigger = { projectSlug: 'shop', tags: ['smoke'] };
  const { result } = await gate({ ...service, intervalMs: 10, trigger });
  const client = createClient(service);
  const error = await client.orders.get('none').catch((reason: unknown) => reason);
  await client.close();
  await mock.close();
  const others = [signSync, webhook, verifyReceipt].map((one) => typeof one);
  return [result, error instanceof HttpError, exitCodeOf(error), ...others].join(' ');
}
`;
const expected = 'pass true 5 function function function';
const program = `${app}void run().then(console.log);\n`;
const suite = `${app}test('runs', async () => expect(await run()).toBe('${expected}'), 60_000);\n`;

const js = (text: string, module: ts.ModuleKind) =>
  ts.transpile(text, { module, target: ts.ScriptTarget.ES2022 });

beforeAll(async () => {
  if (!existsSync(join(home, 'node_modules/webpack'))) {
    const installed = await start('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts'], {}, home)
      .ended;
    if (installed.code !== 0) throw new Error(installed.err);
  }
  const packed = await start('npm', ['pack', '--pack-destination', project], {}, root).ended;
  if (packed.code !== 0) throw new Error(packed.err);
  const tarball = readdirSync(project).find((file) => file.endsWith('.tgz')) ?? '';
  const target = join(project, 'node_modules/rungate');
  mkdirSync(target, { recursive: true });
  execFileSync('tar', ['-xzf', join(project, tarball), '-C', target, '--strip-components=1']);
  const files = {
    'package.json': '{ "private": true }',
    'main.mjs': js(program, ts.ModuleKind.ESNext),
    'main.cjs': js(program, ts.ModuleKind.CommonJS),
    'gate.test.mjs': js(suite, ts.ModuleKind.ESNext),
    'gate.test.js': js(suite, ts.ModuleKind.ESNext),
    'gate.test.ts': `declare const test: any, expect: any;\n${suite}`,
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(project, name), text);
});

const resolved = createRequire(join(home, 'package.json')).resolve;
/** Imports an installed tool, which the type checker does not know. */
const imported = async (name: string) => {
  const module = await import(pathToFileURL(resolved(name)).href);
  return module.default ?? module;
};

type Format = 'cjs' | 'mjs';
/** Bundles `main` of this format into a file of this format in `folder`, and returns the file. */
type Bundle = (format: Format, folder: string) => Promise<string>;

const esbuild =
  (name: string): Bundle =>
  async (format, folder) => {
    const outfile = join(folder, `main.${format}`);
    const { build } = await imported(name);
    await build({
      entryPoints: [join(project, `main.${format}`)],
      bundle: true,
      platform: 'node',
      format: format === 'cjs' ? 'cjs' : 'esm',
      outfile,
    });
    return outfile;
  };

const webpack =
  (name: string): Bundle =>
  async (format, path) => {
    const compile = await imported(name);
    const entry = join(project, `main.${format}`);
    const output = { path, filename: 'main.cjs' };
    const options = { mode: 'production', target: 'node20', context: project, entry, output };
    await new Promise<void>((resolve, reject) => {
      compile(options, (error: Error | null, stats: { toJson(): { errors: object[] } }) => {
        const errors = error ?? stats.toJson().errors[0];
        errors === undefined ? resolve() : reject(errors);
      });
    });
    return join(path, 'main.cjs');
  };

const rollup =
  (name: string): Bundle =>
  async (format, dir) => {
    const { nodeResolve } = await import(
      pathToFileURL(resolved('@rollup/plugin-node-resolve')).href.replace('/cjs/', '/es/')
    );
    const build = (await imported(name)).rollup;
    // Rollup reads ES modules only.
    const bundle = await build({ input: join(project, 'main.mjs'), plugins: [nodeResolve()], onwarn() {} });
    const names = { entryFileNames: `main.${format}`, chunkFileNames: `[name]-[hash].${format}` };
    await bundle.write({ dir, format: format === 'cjs' ? 'cjs' : 'es', ...names });
    return join(dir, `main.${format}`);
  };

const vite =
  (name: string): Bundle =>
  async (_format, outDir) => {
    const main = join(home, 'node_modules', name, 'dist/node/index.js');
    const { build } = await import(pathToFileURL(main).href);
    const options = { ssr: join(project, 'main.mjs'), outDir, emptyOutDir: true };
    const ssr = { noExternal: true };
    await build({ root: project, configFile: false, logLevel: 'error', ssr, build: options });
    return join(outDir, 'main.mjs');
  };

const ncc =
  (name: string): Bundle =>
  async (format, folder) => {
    const cli = join(home, 'node_modules', name, 'dist/ncc/cli.js');
    const args = [cli, 'build', join(project, `main.${format}`), '--out', folder];
    const { code, err } = await start(process.execPath, args, {}, project).ended;
    expect(code, err).toBe(0);
    return join(folder, readdirSync(folder).find((file) => file.startsWith('index.')) ?? '');
  };

const both: readonly Format[] = ['cjs', 'mjs'];
const bundlers: Record<string, [Bundle, readonly Format[]]> = {
  esbuild: [esbuild('esbuild'), both],
  'the oldest esbuild': [esbuild('oldest-esbuild'), both],
  webpack: [webpack('webpack'), both],
  'the oldest webpack': [webpack('oldest-webpack'), both],
  rollup: [rollup('rollup'), both],
  'the oldest Rollup': [rollup('oldest-rollup'), both],
  'Vite SSR': [vite('vite'), ['mjs']],
  'the oldest Vite SSR': [vite('oldest-vite'), ['mjs']],
  ncc: [ncc('@vercel/ncc'), both],
  'the oldest ncc': [ncc('oldest-ncc'), both],
};

describe.each(Object.entries(bundlers))('bundled by %s', (name, [bundle, formats]) => {
  it.each(formats)('a gate passes against the bundled mock: .%s', async (format) => {
    const folder = join(project, 'out', name.replaceAll(' ', '-'), format);
    mkdirSync(folder, { recursive: true });
    const file = await bundle(format, folder);
    const ended = await start(process.execPath, [file], {}, project).ended;
    expect(ended).toMatchObject({ code: 0, err: '', out: `${expected}\n` });
  });
});

/** Jest leaves modules in node_modules as they are, unless they are listed. */
const transformIgnorePatterns = ['/node_modules/(?!rungate/)'];
const inJest = {
  babel: () => ({
    testMatch: ['**/gate.test.js'],
    transform: {
      '\\.js$': [
        resolved('babel-jest'),
        {
          plugins: ['dynamic-import', 'modules-commonjs'].map((name) =>
            resolved(`@babel/plugin-transform-${name}`),
          ),
        },
      ],
    },
    transformIgnorePatterns,
  }),
  swc: () => ({
    testMatch: ['**/gate.test.js'],
    transform: { '\\.js$': [resolved('@swc/jest'), { jsc: { target: 'es2022' } }] },
    transformIgnorePatterns,
  }),
  'ts-jest': () => ({
    testMatch: ['**/gate.test.ts'],
    transform: {
      '\\.[jt]s$': [
        resolved('ts-jest'),
        {
          tsconfig: {
            allowJs: true,
            target: 'es2022',
            module: 'commonjs',
            moduleResolution: 'node10',
            isolatedModules: true,
          },
          diagnostics: false,
        },
      ],
    },
    transformIgnorePatterns,
  }),
  'ES modules': () => ({ testMatch: ['**/gate.test.mjs'], transform: {} }),
};

describe.each(['jest', 'oldest-jest'])('in %s', (jest) => {
  it.each(Object.entries(inJest))('with %s, a gate passes against the mock', async (name, config) => {
    const file = join(project, `jest-${name.replace(' ', '-')}.json`);
    writeFileSync(file, JSON.stringify({ rootDir: project, cache: false, ...config() }));
    const args = [join(home, 'node_modules', jest, 'bin/jest.js'), '--config', file];
    const node = name === 'ES modules' ? ['--experimental-vm-modules'] : [];
    const { code, err } = await start(process.execPath, [...node, ...args], {}, project).ended;
    expect(code, err).toBe(0);
    expect(err).toMatch(/^Tests: +1 passed, 1 total$/m);
  });
});

describe('eslint-plugin-import', () => {
  const unresolved = async (settings: object) => {
    const { ESLint } = await imported('eslint');
    const plugin = await imported('eslint-plugin-import');
    const rules = { 'import/no-unresolved': 'error', 'import/named': 'error' };
    const config = { files: ['**/*.mjs'], plugins: { import: plugin }, rules, settings };
    const eslint = new ESLint({ cwd: project, overrideConfigFile: true, overrideConfig: [config] });
    const [{ messages }] = await eslint.lintFiles(['main.mjs']);
    return messages.map(({ message }: { message: string }) => /'(.*)'/.exec(message)?.[1]);
  };

  it('finds rungate by itself, and every entry with the resolver for TypeScript', async () => {
    expect(await unresolved({})).not.toContain('rungate');
    const resolver = { [resolved('eslint-import-resolver-typescript')]: {} };
    expect(await unresolved({ 'import/resolver': resolver })).toEqual([]);
  });
});
