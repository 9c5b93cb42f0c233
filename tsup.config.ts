import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig, type Options } from 'tsup';

const root = fileURLToPath(new URL('.', import.meta.url));

/** `import { Agent } from 'undici'` in src/transport: the parts used, without the rest of undici. */
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

/** conf without what it uses for schemas and migrations, which no store of rungate has. */
const confParts: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'conf-parts',
  setup(build) {
    build.onResolve({ filter: /^(ajv\/.*|ajv-formats|semver)$/ }, ({ importer }) =>
      importer.startsWith(join(root, 'node_modules/conf/'))
        ? { path: join(root, 'scripts/unused-by-conf.mjs') }
        : undefined,
    );
  },
};

/** ora with the two spinners that are used. */
const oraParts: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'ora-parts',
  setup(build) {
    build.onResolve({ filter: /^cli-spinners$/ }, () => ({ path: join(root, 'scripts/spinner-parts.mjs') }));
  },
};

/** @redis/client without clusters and sentinels, and with the commands that the hub uses instead of all 400. */
const redisParts: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'redis-parts',
  setup(build) {
    build.onResolve({ filter: /^@redis\/client$/ }, ({ importer }) =>
      importer.startsWith(join(root, 'src')) ? { path: join(root, 'scripts/redis-parts.mjs') } : undefined,
    );
    build.onResolve({ filter: /^\.\.\/commands$/ }, ({ importer }) =>
      importer.startsWith(join(root, 'node_modules/@redis/client/'))
        ? { path: join(root, 'scripts/redis-commands.mjs') }
        : undefined,
    );
  },
};

/** `import text from './page.css?raw'`, as Vite knows it in the tests: the file as text, made smaller where it is code. */
const raw: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'raw',
  setup(build) {
    build.onResolve({ filter: /\?raw$/ }, ({ path, resolveDir }) => ({
      path: join(resolveDir, path),
      namespace: 'raw',
    }));
    build.onLoad({ filter: /\?raw$/, namespace: 'raw' }, async ({ path }) => {
      const file = path.replace(/\?raw$/, '');
      const text = await readFile(file, 'utf8');
      const loader = /\.(css|js)$/.exec(file)?.[1] as 'css' | 'js' | undefined;
      const smaller = loader && (await build.esbuild.transform(text, { loader, minify: true })).code;
      return { contents: smaller ?? text, loader: 'text' };
    });
  },
};

/**
 * `verify` of `rungate` is that of `rungate/webhook`, not a second copy: an error of the one must be an instance of the
 * other's class.
 */
const oneWebhook: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'one-webhook',
  setup(build) {
    build.onResolve({ filter: /^\.\/webhook\/node\.ts$/ }, ({ importer }) =>
      importer.endsWith('index.ts') ? { path: './webhook/node.js', external: true } : undefined,
    );
  },
};

const shared: Options = {
  esbuildPlugins: [undiciParts, confParts, oraParts, raw],
  format: 'esm',
  target: 'node20.18',
  platform: 'node',
  // Deno and Workers know `node:crypto`, not `crypto`.
  removeNodeProtocol: false,
  // The published package has no runtime dependencies: what is used is bundled.
  noExternal: [/.*/],
  // CommonJS packages that are bundled (commander, undici) call require() for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
  },
};

/** `rungate/webhook`, which runs in every runtime: its files import nothing of Node but what they name themselves. */
const { banner: _ofNode, ...webhook } = shared;
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
    entry: { cli: 'src/cli/main.ts', index: 'src/index.ts', version: 'src/version.ts' },
    esbuildPlugins: [undiciParts, confParts, oraParts, redisParts, raw, oneWebhook],
    // Which source went into which file: for the step that follows (scripts/chunks.mjs), which minifies as well.
    metafile: true,
    splitting: true,
    // That step adds it, once a file.
    banner: {},
    // The builds that write code run side by side, and each cleans its own folder.
    clean: ['!webhook/**', '!receipt/**', '!action/**'],
  },
  {
    ...shared,
    // The GitHub Action: not in the package, and not on the main branch, but in the commits that releases tag.
    entry: { index: 'src/action.ts', toolkit: 'src/action/toolkit.ts' },
    outDir: 'dist/action',
    splitting: true,
    minify: true,
    clean: true,
  },
  {
    ...webhook,
    entry: webhookEntries,
    outDir: 'dist/webhook',
    splitting: true,
    minify: true,
    // As in scripts/chunks.mjs: Node prints the line of an error that nobody catches.
    esbuildOptions(options) {
      options.lineLimit = 300;
    },
    clean: true,
  },
  {
    // As for the webhooks: it runs in every runtime.
    ...webhook,
    entry: { index: 'src/receipt/index.ts' },
    outDir: 'dist/receipt',
    minify: true,
    esbuildOptions(options) {
      options.lineLimit = 300;
    },
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
