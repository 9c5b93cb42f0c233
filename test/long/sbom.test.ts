import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Spec, Validation } from '@cyclonedx/cyclonedx-library';
import { beforeAll, describe, expect, it } from 'vitest';
import { root } from '../e2e/built.ts';

interface Component {
  group?: string;
  name: string;
  version?: string;
  purl?: string;
  cpe?: string;
  'bom-ref': string;
}
interface Sbom {
  specVersion: Spec.Version;
  metadata: { component: Component };
  components: Component[];
  dependencies: { ref: string; dependsOn?: string[] }[];
}

const read = (path: string) => readFileSync(join(root, path), 'utf8');
/** The SBOM that the release publishes, made from the build of `npm run build`. */
let text: string;
let sbom: Sbom;
beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'scripts/sbom.mjs')]);
  text = read('dist/binary/rungate.cdx.json');
  sbom = JSON.parse(text);
});

const problems = (json: string) => new Validation.JsonStrictValidator(sbom.specVersion).validate(json);
const titleOf = ({ group, name, version }: Component) =>
  `${group === undefined ? '' : `${group}/`}${name} ${version}`;

describe('the SBOM of the single executables', () => {
  it('is valid for the JSON schema of CycloneDX', async () => {
    expect(await problems(text)).toBeNull();
    expect(await problems(text.replace('"type": "platform"', '"type": "runtime"'))).not.toBeNull();
  });

  it('lists Node, and the packages whose licences are beside the executables', () => {
    const licensed = read('dist/binary/THIRD_PARTY_LICENSES.txt').matchAll(/^(\S+ \S+)\nLicense: /gm);
    const packages = [...licensed].map(([, title]) => title ?? '');
    expect(packages).toEqual(expect.arrayContaining([expect.stringMatching(/^@redis\/client /)]));
    const node = `node ${read('scripts/binary-node-version').trim()}`;
    expect(sbom.components.map(titleOf).sort()).toEqual([...packages, node].sort());
  });

  it('is about this version of rungate, which depends on Node', () => {
    const { component } = sbom.metadata;
    expect(titleOf(component)).toBe(`rungate ${JSON.parse(read('package.json')).version}`);
    const node = sbom.components.find(({ cpe }) => cpe?.startsWith('cpe:2.3:a:nodejs:node.js:'));
    const { dependsOn } = sbom.dependencies.find(({ ref }) => ref === component['bom-ref']) ?? {};
    expect(dependsOn).toContain(node?.['bom-ref']);
  });
});
