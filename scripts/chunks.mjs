// Merges the files of the command line and the library that tsup wrote. `npm run build` runs it between tsup and the
// licences.
//
// esbuild writes one file for each combination of entries, so that `run wait` consisted of about forty files; finding,
// reading and linking them took a third of its time. Rollup lets us choose the chunks.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { rollup } from 'rollup';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** The files that `run wait` loads by `import()`. Every gate loads these and everything that they import. */
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

/** CommonJS packages (commander, undici) call `require` for Node's own modules; all others are bundled. */
const requireBanner =
  "import { createRequire as __createRequire } from 'node:module';const require = __createRequire(import.meta.url);";

/** Returns these files and their static imports, or their imports of the given kinds, transitively. */
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
// Code that the library shares with the command line goes into a separate chunk.
const shared = closure(['index.js'], ['import-statement', 'dynamic-import']);
// `--version` loads neither of the two.
const isVersion = (file) => file === 'version.js' || 'src/version.ts' in (outputs[file]?.inputs ?? {});
const fileOf = (file) =>
  isVersion(file) ? 'version' : !hot.has(file) ? undefined : shared.has(file) ? 'core' : 'cli';

const bundle = await rollup({
  input: Object.fromEntries(['cli', 'index', 'version'].map((name) => [name, join(dist, `${name}.js`)])),
  // The webhooks are a separate build, which the library re-exports.
  external: (id) => isBuiltin(id) || id === './webhook/node.js',
  makeAbsoluteExternalsRelative: false,
  // As in package.json: a file is only loaded if something of it is used.
  treeshake: { moduleSideEffects: false },
  // An entry may get more exports; otherwise Rollup adds a file that only re-exports another.
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
  // For an uncaught error, Node prints the line that threw it, which must not be the whole file.
  const small = await transform(code, { minify: true, format: 'esm', target: 'node20.18', lineLimit: 300 });
  writeFileSync(join(dist, fileName), small.code);
  const inputs = Object.assign({}, ...Object.keys(modules).map((id) => outputs[basename(id)]?.inputs));
  merged[`dist/${fileName}`] = { inputs };
}
writeFileSync(join(dist, 'metafile-esm.json'), JSON.stringify({ outputs: merged }));
