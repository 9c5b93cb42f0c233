// Writes the parts of the single executables, as a CycloneDX SBOM: dist/binary/rungate.cdx.json.
//
//   npm run sbom      after `npm run build`
//
// cyclonedx-esbuild lists the packages in esbuild's metafile; this script adds Node, which esbuild does not know.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const read = (path) => readFileSync(join(root, path), 'utf8');

/** Returns Node as a part. Vulnerability scanners find it by its CPE. */
function node(version) {
  const purl = `pkg:generic/node@${version}`;
  const cpe = `cpe:2.3:a:nodejs:node.js:${version}:*:*:*:*:*:*:*`;
  const licenses = [{ license: { id: 'MIT' } }];
  return { type: 'platform', name: 'node', version, 'bom-ref': purl, licenses, cpe, purl };
}

/** Returns the SBOM of the packages in a metafile. */
function packages(metafile) {
  const work = mkdtempSync(join(tmpdir(), 'rungate-sbom-'));
  try {
    const [input, output] = ['metafile.json', 'sbom.json'].map((name) => join(work, name));
    writeFileSync(input, metafile);
    const tool = join(root, 'node_modules/@cyclonedx/cyclonedx-esbuild/bin/cyclonedx-esbuild-cli.js');
    const args = [tool, '--output-reproducible', '--output-file', output, input];
    execFileSync(process.execPath, args, { cwd: root, stdio: 'pipe' });
    return JSON.parse(readFileSync(output, 'utf8'));
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

// The files of the mock's page have other names in the metafile, as tsup.config.ts loads them.
const metafile = read('dist/binary/metafile-cjs.json').replaceAll(`raw:${root}`, '').replaceAll('?raw"', '"');
const sbom = packages(metafile);
const platform = node(read('scripts/binary-node-version').trim());
sbom.components.push(platform);
sbom.dependencies
  .find(({ ref }) => ref === sbom.metadata.component['bom-ref'])
  .dependsOn.push(platform['bom-ref']);
sbom.dependencies.push({ ref: platform['bom-ref'] });
writeFileSync(join(root, 'dist/binary/rungate.cdx.json'), `${JSON.stringify(sbom, null, 2)}\n`);
