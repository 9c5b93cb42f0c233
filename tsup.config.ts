import { defineConfig, type Options } from 'tsup';

const shared: Options = {
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

export default defineConfig([
  {
    ...shared,
    entry: { cli: 'src/cli.ts', index: 'src/index.ts' },
    splitting: true,
    minify: true,
    clean: true,
  },
  { ...shared, entry: { index: 'src/index.ts' }, dts: { only: true } },
]);
