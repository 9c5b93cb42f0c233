import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect } from 'vitest';

const folder = fileURLToPath(new URL('../../../src/gate/', import.meta.url));

/**
 * Returns what a module in `src/gate` exports, with one change of the source.
 * @param contents the module
 */
export async function mutated<Exports>(
  contents: string,
  { file, from, to }: { file: string; from: string; to: string },
): Promise<Exports> {
  const path = `${folder}${file}`;
  const source = await readFile(path, 'utf8');
  expect(source).toContain(from);
  const changed = { contents: source.replace(from, () => to), loader: 'ts' } as const;
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: folder, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'node',
    plugins: [
      {
        name: 'mutant',
        setup: ({ onLoad }) => onLoad({ filter: new RegExp(`gate/${file}$`) }, () => changed),
      },
    ],
  });
  const [bundle] = outputFiles;
  return import(`data:text/javascript,${encodeURIComponent(bundle?.text ?? '')}`);
}
