// Shared by the benchmarks: options, figures, TypeScript, and the pages that they write.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Whether the command has an option. */
export const has = (name) => process.argv.includes(`--${name}`);

/** Returns the value of an option of the command. */
export function option(name, otherwise) {
  const at = process.argv.indexOf(`--${name}`);
  return at < 0 ? otherwise : process.argv[at + 1];
}

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
/** Returns the least value that a part of the values does not exceed. */
export const atMost = (values, part) => values.toSorted((a, b) => a - b)[Math.ceil(values.length * part) - 1];

/** Imports a TypeScript file of this folder, with everything that it imports. */
export async function loadTypeScript(name) {
  // Not from a data: URL, which each error's stack would contain.
  const directory = mkdtempSync(join(tmpdir(), 'rungate-bench-'));
  const outfile = join(directory, 'bundle.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    outfile,
    bundle: true,
    format: 'esm',
    platform: 'node',
    logLevel: 'error',
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('file:///');" },
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(directory, { recursive: true });
  }
}

/** Replaces the text between two lines of docs/project/fleet.md. @param markers the first and the last line, which stay */
export function writeBetween([first, last], text) {
  const file = new URL('../docs/project/fleet.md', import.meta.url);
  const [before, rest] = readFileSync(file, 'utf8').split(first);
  writeFileSync(file, `${before}${first}\n\n${text}\n\n${last}${rest.split(last)[1]}`);
}
