import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { pinned } from '../../src/ci/installation.ts';
import { pipelines } from '../../src/ci/pipelines.ts';
import { version } from '../../src/version.ts';
import { root } from '../e2e/built.ts';
import { commandIn } from './command-in.ts';

const page = readFileSync(join(root, 'docs/ci.md'), 'utf8');
const selected = '--project shop --process checkout';
const stands = {
  flags: selected,
  checkout: false,
  folder: '',
  addressInFile: false,
  fileTimeoutMs: null,
  installation: pinned(version),
};
/** The plan of a step whose project file says what to run. */
const fromFile = { ...stands, flags: '', checkout: true };
const lockfile = { install: 'npm ci --ignore-scripts', start: 'npx --no-install rungate', caveat: null };
const installations = { 'by its version': pinned(version), 'from the lockfile': lockfile };

/** The CIs whose store hands a secret over only to a step that names it. */
const namesSecrets = ['github', 'jenkins', 'azure', 'buildkite'];

describe.each(pipelines)('$title', (pipeline) => {
  const isYaml = pipeline.provider !== 'jenkins';

  it('the page shows the text that rungate init writes', () => {
    expect(page).toContain(`\`\`\`${isYaml ? 'yaml' : 'groovy'}\n${pipeline.text(stands)}\`\`\`\n`);
  });

  describe.each(Object.entries(installations))('with rungate %s', (_name, installation) => {
    it.each([false, true])(
      'leaves to the project file what it says (its address: %j), and nothing else',
      (addressInFile) => {
        const text = pipeline.text({ ...fromFile, addressInFile, installation });
        expect(text).not.toMatch(/--project|--process|shop/);
        expect(text).toMatch(/exec npx .* run trigger --wait --strict\s+--timeout 45m --junit /);
        if (namesSecrets.includes(pipeline.provider)) expect(text).toContain('RUNGATE_API_KEY');
        if (addressInFile) expect(text).not.toContain('RUNGATE_API_URL');
        // Without a checkout there is no project file to read.
        expect(text).not.toMatch(/checkout: none|enabled: false/);
        if (isYaml) expect(parseYaml(text)).toBeTypeOf('object');
      },
    );

    it.each(['', selected])(
      'waits and is strict on the first line of the command, with the flags %j',
      (flags) => {
        const text = pipeline.text({ ...fromFile, flags, installation });
        const gates = text
          .split('\n')
          .filter((line) => line.includes('rungate') && / run\b.*\btrigger\b/.test(line));
        expect(gates).toHaveLength(1);
        expect(gates[0]).toContain(`exec ${installation.start} run trigger --wait --strict`);
      },
    );

    it.runIf(isYaml)('is the same gate when the folded lines become literal ones', () => {
      const text = pipeline.text({ ...stands, installation });
      const [folded, literal] = [text, text.replace('>-', '|')].map((one) => commandIn(parseYaml(one)));
      expect(literal).not.toBe(folded);
      expect(literal?.split('\n')[0]).toBe(`exec ${installation.start} run trigger --wait --strict`);
    });

    it('installs from the lockfile before the gate, in a command of its own', () => {
      const text = pipeline.text({ ...fromFile, installation });
      const before = text.slice(0, text.indexOf('exec ')).split('\n');
      const installing = before.filter((line) => /\b(npm|npx) /.test(line));
      expect(installing.map((line) => line.trim().replace(/^(- )?(run: |bash: |sh )?'?|'$/g, ''))).toEqual(
        installation.install === null ? [] : [installation.install],
      );
    });
  });

  it('uses actions by their commit, and keeps no credential for git', () => {
    const text = pipeline.text(fromFile);
    const used = [...text.matchAll(/\buses: .*/g)].map(([line]) => line);
    expect(used).toHaveLength(pipeline.provider === 'github' ? 1 : 0);
    const own = readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8');
    for (const line of used) expect(own).toContain(line);
    if (used.length > 0) expect(text).toContain('persist-credentials: false');
  });
});

it('the page shows the step that installs from the lockfile', () => {
  const gitlab = pipelines.find(({ provider }) => provider === 'gitlab');
  expect(page).toContain(gitlab?.text({ ...stands, installation: lockfile }));
});

it('every command of the page and of the template is a gate by its first line', () => {
  const template = readFileSync(join(root, 'templates/gitlab/rungate.yml'), 'utf8');
  const gates = `${page}${template}`.split('\n').filter((line) => line.includes('run trigger'));
  expect(gates.length).toBeGreaterThan(9);
  for (const line of gates) expect(line).toMatch(/exec npx .* run trigger --wait --strict\b/);
});
