// Puts what every gate loads into one file, and the many small files that splitting leaves into fewer. A step of
// `npm run build`, between tsup and the licences.
//
// esbuild splits by who uses what: `run wait` came out in some thirty files, and finding, reading and linking them
// took 12 ms of its 45. Rollup can be told what belongs together, and leaves nothing twice.
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transform } from 'esbuild';
import { rollup } from 'rollup';

const dist = fileURLToPath(new URL('../dist', import.meta.url));

/** Where `run wait` goes by `import()`: with all that they import, they are what every gate loads. */
const gate = [
  'src/cli.ts',
  'src/commands/run.ts',
  'src/commands/run-wait.ts',
  'src/commands/run-flags.ts',
  'src/http/client.ts',
  'src/http/address.ts',
  'src/settings.ts',
];

const metafile = JSON.parse(readFileSync(join(dist, 'metafile-esm.json'), 'utf8'));
const outputs = Object.fromEntries(
  Object.entries(metafile.outputs).map(([path, one]) => [basename(path), one]),
);
const first = Object.entries(outputs)
  .filter(([, { entryPoint }]) => gate.includes(entryPoint))
  .map(([file]) => file);

/** The files that these load at once, themselves included. */
function closure(files) {
  const found = new Set(files);
  for (const file of found) {
    for (const { path, kind } of outputs[file]?.imports ?? []) {
      if (kind === 'import-statement') found.add(basename(path));
    }
  }
  return found;
}

// What says the version says it without the rest.
const alone = closure(['version.js']);
const hot = closure(first);
const bundle = await rollup({
  input: Object.fromEntries(['cli', 'index', 'version'].map((name) => [name, join(dist, `${name}.js`)])),
  external: (id) => builtinModules.includes(id.replace(/^node:/, '')),
  onwarn(warning, warn) {
    if (warning.code !== 'CIRCULAR_DEPENDENCY') warn(warning);
  },
});
const { output } = await bundle.generate({
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  manualChunks: (id) => (hot.has(basename(id)) && !alone.has(basename(id)) ? 'gate' : undefined),
  onlyExplicitManualChunks: true,
});
await bundle.close();

for (const file of Object.keys(outputs)) rmSync(join(dist, file), { force: true });
const merged = {};
for (const { fileName, code, modules } of output) {
  const small = await transform(code, { minify: true, format: 'esm', target: 'node20.18' });
  writeFileSync(join(dist, fileName), small.code);
  const inputs = {};
  for (const id of Object.keys(modules)) Object.assign(inputs, outputs[basename(id)]?.inputs);
  merged[`dist/${fileName}`] = { inputs };
}
writeFileSync(join(dist, 'metafile-esm.json'), JSON.stringify({ outputs: merged }));
