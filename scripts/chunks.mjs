// Puts what every gate loads into one file, and the many small files that splitting leaves into fewer. A step of
// `npm run build`, between tsup and the licences.
//
// esbuild splits by who uses what: `run wait` came out in some thirty files, and finding, reading and linking them
// took 12 ms of its 45. Rollup can be told what belongs together, and leaves nothing twice.
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
  'src/settings/index.ts',
];

const metafile = JSON.parse(readFileSync(join(dist, 'metafile-esm.json'), 'utf8'));
const outputs = Object.fromEntries(
  Object.entries(metafile.outputs).map(([path, one]) => [basename(path), one]),
);
const first = Object.entries(outputs)
  .filter(([, { entryPoint }]) => gate.includes(entryPoint))
  .map(([file]) => file);

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

const hot = closure(first);
// What the library has in common with the command line stays free of the rest of it; what it loads later, too (the mock).
const shared = closure(['index.js'], ['import-statement', 'dynamic-import']);
const isVersion = (file) => 'src/version.ts' in (outputs[file]?.inputs ?? {});
const fileOf = (file) => (!hot.has(file) || isVersion(file) ? undefined : shared.has(file) ? 'core' : 'cli');

/** `--version` is answered without either, and they need no third file for it: the one line of it is there twice. */
const versionTwice = {
  name: 'version-twice',
  resolveId: (source, importer) =>
    isVersion(basename(source)) && basename(importer ?? '') !== 'version.js'
      ? `${join(dist, basename(source))}?twice`
      : null,
  load: (id) => (id.endsWith('?twice') ? readFileSync(id.replace('?twice', ''), 'utf8') : null),
};

const bundle = await rollup({
  input: Object.fromEntries(['cli', 'index', 'version'].map((name) => [name, join(dist, `${name}.js`)])),
  plugins: [versionTwice],
  // The webhooks are a build of their own, which the library hands on.
  external: (id) => isBuiltin(id) || id === './webhook/node.js',
  makeAbsoluteExternalsRelative: false,
  // What is made of no source of anybody's are esbuild's own functions, for those who call them.
  treeshake: {
    moduleSideEffects: (id) =>
      Object.keys(outputs[basename(id).replace('?twice', '')]?.inputs ?? {}).length > 0,
  },
  // An entry may have more exports than its own: else it is one more file, that only names another.
  preserveEntrySignatures: 'allow-extension',
  onwarn(warning, warn) {
    if (warning.code !== 'CIRCULAR_DEPENDENCY') warn(warning);
  },
});
const { output } = await bundle.generate({
  format: 'esm',
  entryFileNames: '[name].js',
  chunkFileNames: '[name].js',
  manualChunks: (id) => (id.endsWith('?twice') ? 'core' : fileOf(basename(id))),
  onlyExplicitManualChunks: true,
  hoistTransitiveImports: false,
});
await bundle.close();

/**
 * Node's own modules without what `import` makes of them: it reads every export, and for that `fs` loads its streams,
 * and `http`, from Node 22 on, the whole of undici.
 */
function withoutFacades(code) {
  return code.replace(/^import \{([^}]*)\} from ["']([\w:/]+)["'];$/gm, (whole, names, name) => {
    if (!isBuiltin(name)) return whole;
    return `const {${names.replace(/ as /g, ': ')}} = process.getBuiltinModule('${name}');`;
  });
}

/** CommonJS packages (commander) call `require`, for Node's own modules alone: all others are bundled. */
const required = (code) =>
  code.includes('typeof require ')
    ? `const require = (name) => process.getBuiltinModule(name);${code}`
    : code;

for (const file of Object.keys(outputs)) rmSync(join(dist, file), { force: true });
const merged = {};
for (const { fileName, code, modules } of output) {
  const lean = ['cli.js', 'core.js'].includes(fileName) ? withoutFacades(code) : code;
  const small = await transform(required(lean), {
    minify: true,
    format: 'esm',
    target: 'node20.18',
    // Node prints the line from which an error is thrown that nobody catches: not all of a file.
    lineLimit: 300,
  });
  writeFileSync(join(dist, fileName), small.code);
  const inputs = {};
  for (const id of Object.keys(modules))
    Object.assign(inputs, outputs[basename(id).replace('?twice', '')]?.inputs);
  merged[`dist/${fileName}`] = { inputs };
}
writeFileSync(join(dist, 'metafile-esm.json'), JSON.stringify({ outputs: merged }));
