import { readFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Options } from 'tsup';

const root = fileURLToPath(new URL('.', import.meta.url));

/** undici without the parts that rungate does not use, such as fetch and HTTP/2: a gate starts in three quarters of the time. */
const undiciParts: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'undici-parts',
  setup(build) {
    build.onResolve({ filter: /^undici$/ }, ({ importer }) =>
      importer.startsWith(join(root, 'src')) ? { path: join(root, 'scripts/undici-parts.mjs') } : undefined,
    );
    build.onResolve({ filter: /^node:http2$/ }, ({ importer }) =>
      importer.endsWith('client-h2.js') ? { path: join(root, 'scripts/no-http2.cjs') } : undefined,
    );
  },
};

/** The mock's page and the skill as text: `import text from './page.css?raw'` works in the tests, but esbuild does not know it. */
const raw: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'raw',
  setup(build) {
    build.onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      namespace: 'raw',
    }));
    // With `?raw` in the path, tsup's own plugin for CSS leaves the file alone.
    build.onLoad({ filter: /\?raw$/, namespace: 'raw' }, async ({ path }) => ({
      contents: await readFile(path.replace(/\?raw$/, '')),
      loader: 'text',
    }));
  },
};

/** `verify` of `rungate` is that of `rungate/webhook`, so that an error of the one is an instance of the other's class. */
const oneWebhook: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'one-webhook',
  setup(build) {
    build.onResolve({ filter: /^\.\/webhook\/node\.ts$/ }, ({ importer }) =>
      importer.endsWith('index.ts') ? { path: './webhook/node.js', external: true } : undefined,
    );
  },
};

/**
 * For the CommonJS packages that are bundled (commander, undici): Node's own modules without `require` or `import.meta`, so that
 * users can bundle rungate to CommonJS and load it in Jest. esbuild's `inject` does not replace its own `require`.
 */
const builtins: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'builtins',
  setup(build) {
    build.onResolve({ filter: /^[\w:/]+$/ }, ({ path, kind, importer }) =>
      kind === 'require-call' && (path.startsWith('node:') || isBuiltin(path))
        ? // One for each importer, since what several chunks share would be another file to load.
          { path, namespace: 'builtin', suffix: `?${basename(importer)}` }
        : undefined,
    );
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('${path}');`,
    }));
  },
};

/** tsup bundles every package except the peer, @redis/client, which only a hub on Redis needs. */
const shared: Options = {
  esbuildPlugins: [undiciParts, raw, builtins],
  format: 'esm',
  target: 'node20.18',
  platform: 'node',
  // Deno and Workers know `node:crypto`, not `crypto`.
  removeNodeProtocol: false,
  minify: true,
  esbuildOptions(options) {
    // For an uncaught error, Node prints the line that threw it, which must not be the whole file. Shorter lines cost kilobytes.
    options.lineLimit = 1600;
  },
};

/** A single executable loads scripts, not modules: its first stage, and all of rungate in one file, with the peer. */
const binary: Options = {
  ...shared,
  esbuildPlugins: [undiciParts, raw],
  format: 'cjs',
  outDir: 'dist/binary',
  noExternal: ['@redis/client'],
  esbuildOptions(options) {
    shared.esbuildOptions?.(options, { format: 'cjs' });
    // A script outside the file system has no import().
    options.supported = { 'dynamic-import': false };
  },
};

/** `rungate/webhook`, which runs in every runtime: its files import nothing of Node but what they name themselves. */
// Not minified: for an uncaught error, Node prints the line that threw it.
const webhook: Options = { ...shared, minify: false };
const webhookEntries = {
  index: 'src/webhook/web.ts',
  node: 'src/webhook/node.ts',
  fetch: 'src/webhook/receivers/fetch.ts',
  'node-http': 'src/webhook/receivers/node-http.ts',
  express: 'src/webhook/receivers/express.ts',
  fastify: 'src/webhook/receivers/fastify.ts',
  lambda: 'src/webhook/receivers/lambda.ts',
  replay: 'src/webhook/replay.ts',
};

export default defineConfig([
  {
    ...shared,
    entry: { cli: 'src/cli/start.ts', index: 'src/index.ts' },
    esbuildPlugins: [undiciParts, raw, builtins, oneWebhook],
    splitting: true,
    // The builds that write code run side by side, and each cleans its own folder.
    clean: ['!webhook/**', '!receipt/**', '!action/**', '!binary/**'],
  },
  {
    ...shared,
    // The GitHub Action: not in the package, and not on the main branch, but in the commits that releases tag.
    entry: { index: 'src/action.ts', toolkit: 'src/action/toolkit.ts' },
    outDir: 'dist/action',
    splitting: true,
    clean: true,
  },
  {
    ...binary,
    entry: { main: 'bin/binary.js', cli: 'src/cli/start.ts' },
    clean: true,
  },
  {
    ...webhook,
    entry: webhookEntries,
    outDir: 'dist/webhook',
    splitting: true,
    clean: true,
  },
  {
    ...shared,
    entry: { index: 'src/receipt/index.ts' },
    outDir: 'dist/receipt',
    clean: true,
  },
  {
    ...shared,
    entry: {
      index: 'src/index.ts',
      'receipt/index': 'src/receipt/index.ts',
      ...Object.fromEntries(Object.entries(webhookEntries).map(([name, file]) => [`webhook/${name}`, file])),
    },
    dts: { only: true },
  },
]);
