// Merges the files of the command line and the library that tsup wrote. A step of `npm run build`, between tsup and the
// licences.
//
// esbuild makes a file of whatever the same entries use, and `run wait` came out in some forty of them: finding,
// reading and linking those took a third of its time. Rollup can be told what belongs together.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { rollup } from 'rollup';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** Where `run wait` goes by `import()`: with all that they import, they are what every gate loads. */
const gate = [
  'src/cli/main.ts',
  'src/commands/run/define.ts',
  'src/commands/run/wait.ts',
  'src/commands/run/wait-flags.ts',
  'src/client/caller.ts',
  'src/transport/address.ts',
];

const metafile = JSON.parse(readFileSync(join(dist, 'metafile-esm.json'), 'utf8'));
const outputs = Object.fromEntries(
  Object.entries(metafile.outputs).map(([path, one]) => [basename(path), one]),
);

/** CommonJS packages (commander, undici) call `require`, for Node's own modules alone: all others are bundled. */
const requireBanner =
  "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);";

/** The files that these load at once, themselves included; or those that they may ever load. */
function closure(files, kinds = ['import-statement']) {
  const found = new Set(files);
  for (const file of found) {
    for (const { path, kind, external } of outputs[file]?.imports ?? []) {
      if (kinds.includes(kind) && !external) found.add(basename(path));
    }
  }
  return found;
}

const hot = closure(Object.keys(outputs).filter((file) => gate.includes(outputs[file].entryPoint)));
// What the library shares with the command line stays apart from the rest of the command line.
const shared = closure(['index.js'], ['import-statement', 'dynamic-import']);
// `--version` is answered without either.
const isVersion = (file) => file === 'version.js' || 'src/version.ts' in (outputs[file]?.inputs ?? {});
const fileOf = (file) =>
  isVersion(file) ? 'version' : !hot.has(file) ? undefined : shared.has(file) ? 'core' : 'cli';

const bundle = await rollup({
  input: Object.fromEntries(['cli', 'index', 'version'].map((name) => [name, join(dist, `${name}.js`)])),
  // The webhooks are a build of their own, which the library hands on.
  external: (id) => isBuiltin(id) || id === './webhook/node.js',
  makeAbsoluteExternalsRelative: false,
  // As package.json says: a file is loaded by who uses something of it.
  treeshake: { moduleSideEffects: false },
  // An entry may have more exports than its own: else it is one more file, that only names another.
  preserveEntrySignatures: 'allow-extension',
  onwarn(warning, warn) {
    if (!['CIRCULAR_DEPENDENCY', 'UNUSED_EXTERNAL_IMPORT'].includes(warning.code)) warn(warning);
  },
});
const { output } = await bundle.generate({
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  manualChunks: (id) => fileOf(basename(id)),
  onlyExplicitManualChunks: true,
  hoistTransitiveImports: false,
  banner: ({ name }) => (name === 'version' ? '' : requireBanner),
});
await bundle.close();

for (const file of Object.keys(outputs)) rmSync(join(dist, file), { force: true });
const merged = {};
for (const { fileName, code, modules } of output) {
  // Node prints the line from which an error is thrown that nobody catches: not all of a file.
  const small = await transform(code, { minify: true, format: 'esm', target: 'node20.18', lineLimit: 300 });
  writeFileSync(join(dist, fileName), small.code);
  const inputs = Object.assign({}, ...Object.keys(modules).map((id) => outputs[basename(id)]?.inputs));
  merged[`dist/${fileName}`] = { inputs };
}
writeFileSync(join(dist, 'metafile-esm.json'), JSON.stringify({ outputs: merged }));
