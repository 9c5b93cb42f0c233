import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'esbuild';

/** Imports a TypeScript file of this folder, with everything that it imports. */
export async function loadTypeScript(name) {
  // Not from a data: URL, which each error's stack would contain.
  const directory = mkdtempSync(join(tmpdir(), 'rungate-bench-'));
  const outfile = join(directory, 'bundle.mjs');
  await build({
    entryPoints: [fileURLToPath(new URL(name, import.meta.url))],
    ...{ outfile, bundle: true, format: 'esm', platform: 'node', logLevel: 'error' },
    banner: { js: "import { createRequire } from 'node:module'; const require = createRequire('file:///');" },
  });
  try {
    return await import(pathToFileURL(outfile).href);
  } finally {
    rmSync(directory, { recursive: true });
  }
}
