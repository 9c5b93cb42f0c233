import { readFile } from 'node:fs/promises';
import { defineConfig, type Options } from 'tsup';

/** What undici loads and we never use, and what takes its place: it costs start-up time and half of the package. */
const unused: Readonly<Record<string, string>> = {
  // Bodies here are text and bytes. This one brings the whole of fetch.
  'web/fetch/body.js': "exports.extractBody = () => { throw new TypeError('a body is text or bytes here') };",
  // We ask for HTTP/1.1 alone. This one loads Node's own HTTP/2.
  'dispatcher/client-h2.js': "module.exports = () => { throw new TypeError('HTTP/2 was not asked for') };",
};

/**
 * undici brings its HTTP parser twice, for processors with and without SIMD, each 65 kB that hardly compress. The one
 * without runs everywhere and is quick enough for what we read.
 */
const lean: NonNullable<Options['esbuildPlugins']>[number] = {
  name: 'lean',
  setup(build) {
    build.onResolve({ filter: /llhttp_simd-wasm\.js$/ }, ({ path, resolveDir, kind }) =>
      build.resolve(path.replace('llhttp_simd-wasm', 'llhttp-wasm'), { resolveDir, kind }),
    );
    build.onLoad(
      { filter: /undici[\\/]lib[\\/](web[\\/]fetch[\\/]body|dispatcher[\\/]client-h2)\.js$/ },
      ({ path }) => {
        const name = path
          .split(/[\\/]/)
          .slice(path.includes('fetch') ? -3 : -2)
          .join('/');
        return { contents: unused[name] ?? '', loader: 'js' };
      },
    );
    // Of ninety spinners the two that ora names itself: one for terminals that can, one for the others.
    build.onLoad({ filter: /cli-spinners[\\/]spinners\.json$/ }, async ({ path }) => {
      const { line, dots } = JSON.parse(await readFile(path, 'utf8'));
      return { contents: JSON.stringify({ line, dots }), loader: 'json' };
    });
  },
};

const shared: Options = {
  esbuildPlugins: [lean],
  format: 'esm',
  target: 'node20.18',
  platform: 'node',
  // The published package has no runtime dependencies: what is used is bundled.
  noExternal: [/.*/],
  // CommonJS packages that are bundled (undici, commander) call require() for Node's own modules.
  banner: {
    js: "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);",
  },
};

/** `rungate/webhook`, which runs in every runtime: its files import nothing of Node but what they name themselves. */
const { banner: _ofNode, ...webhook } = shared;
const webhookEntries = {
  index: 'src/webhook/web.ts',
  node: 'src/webhook/node.ts',
  fetch: 'src/webhook/adapters/fetch.ts',
  'node-http': 'src/webhook/adapters/node-http.ts',
  express: 'src/webhook/adapters/express.ts',
  fastify: 'src/webhook/adapters/fastify.ts',
  lambda: 'src/webhook/adapters/lambda.ts',
  replay: 'src/webhook/replay.ts',
};

export default defineConfig([
  {
    ...shared,
    entry: { cli: 'src/cli.ts', index: 'src/index.ts', version: 'src/version.ts' },
    // Which source went into which file: for the test that says what a command loads. Not in the package.
    metafile: true,
    splitting: true,
    minify: true,
    // The builds that write code run side by side, and each cleans its own folder.
    clean: ['!webhook/**', '!action/**'],
  },
  {
    ...shared,
    // The GitHub Action: not in the package, and not on the main branch, but in the commits that releases tag.
    entry: { index: 'src/action.ts', toolkit: 'src/action-toolkit.ts' },
    outDir: 'dist/action',
    // The toolkit brings a `fetch` that needs the whole of undici.
    esbuildPlugins: [],
    splitting: true,
    minify: true,
    clean: true,
  },
  {
    ...webhook,
    entry: webhookEntries,
    outDir: 'dist/webhook',
    // Deno and Workers know `node:crypto`, not `crypto`.
    removeNodeProtocol: false,
    splitting: true,
    minify: true,
    clean: true,
  },
  {
    ...shared,
    entry: {
      index: 'src/index.ts',
      ...Object.fromEntries(Object.entries(webhookEntries).map(([name, file]) => [`webhook/${name}`, file])),
    },
    dts: { only: true },
  },
]);
