import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { bin, root, start } from './built.ts';

/** Starts the command in this Node, which reports another version. */
function inNode(version: string) {
  const pretend = `Object.defineProperty(process, 'version', { value: 'v${version}' })`;
  return start(process.execPath, [
    '--import',
    `data:text/javascript,${encodeURIComponent(pretend)}`,
    bin,
    '--version',
  ]);
}

it.each(['12.20.0', '18.20.8', '20.9.0', '20.18.0'])(
  'on Node %s, prints the required version and exits with 78',
  async (version) => {
    const { code, out, err } = await inNode(version).ended;
    expect({ code, out }).toEqual({ code: 78, out: '' });
    expect(err).toContain(`error: rungate needs Node 20.18.1 or later, and this is v${version}\n  → install`);
  },
);

it.each(['20.18.1', '20.19.0', '22.0.0', '100.0.0'])('runs on Node %s', async (version) =>
  expect((await inNode(version).ended).code).toBe(0),
);

it('in a clone that is not built, suggests to build it instead of reporting a bug', async () => {
  const clone = await mkdtemp(join(tmpdir(), 'rungate-unbuilt-'));
  try {
    await cp(bin, join(clone, 'bin/rungate.js'));
    await writeFile(join(clone, 'package.json'), '{ "type": "module" }');
    const { code, out, err } = await start(process.execPath, [join(clone, 'bin/rungate.js'), 'doctor']).ended;
    expect({ code, out }).toEqual({ code: 70, out: '' });
    expect(err).toMatch(/^error: rungate is not built: .*\n {2}→ in a clone, run npm ci && npm run build/);
  } finally {
    await rm(clone, { recursive: true });
  }
});

it('requires the version in package.json', () => {
  const { engines } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const needed = /const oldest = \[(.*)\]/.exec(readFileSync(bin, 'utf8'))?.[1]?.replaceAll(', ', '.');
  expect(engines.node).toBe(`>=${needed}`);
});
