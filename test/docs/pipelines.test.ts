import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import { pinned } from '../../src/ci/installation.ts';
import { pipelines, resumePipeline } from '../../src/ci/pipelines.ts';
import { version } from '../../src/version.ts';
import { planned } from '../ci/planned.ts';
import { cli } from '../cli/harness.ts';
import { root } from '../e2e/built.ts';
import { pathsOfPipelinePages, snippets } from './ci-job.ts';

const page = pathsOfPipelinePages.map((path) => readFileSync(join(root, path), 'utf8')).join('\n');
const plan = planned;
/** The plan of a step whose project file has the project and the process. */
const fromFile = { ...plan, flags: '', checkout: true };
const lockfile = { install: 'npm ci --ignore-scripts', start: 'npx --no-install rungate', caveat: null };
const installations = { 'by its version': pinned(version), 'from the lockfile': lockfile };

it.each(['gitlab', 'jenkins'] as const)(
  'docs/how-to/gates.md shows for %s what init writes for its file',
  async (name) => {
    const gatesPage = readFileSync(join(root, 'docs/how-to/gates.md'), 'utf8');
    const project = /```json\n([\s\S]*?)```/.exec(gatesPage)?.[1] ?? '';
    const files: Record<string, string> = { '/repo/.git': '', '/repo/.rungate.json': project };
    expect((await cli(['init', '--ci', name], { cwd: '/repo', files })).code).toBe(0);
    const written = files[`/repo/${pipelines.find(({ provider }) => provider === name)?.file}`];
    expect(gatesPage).toContain(`\n${written}\`\`\`\n`);
  },
);

describe.each(pipelines)('$title', (pipeline) => {
  const isYaml = pipeline.provider !== 'jenkins';

  it('is on a page as rungate init writes it', () => {
    expect(page).toContain(`\`\`\`${isYaml ? 'yaml' : 'groovy'}\n${pipeline.text(plan)}\`\`\`\n`);
  });

  describe.each(Object.entries(installations))('with rungate %s', (_name, installation) => {
    it('installs from the lockfile before the gate, in a separate command', () => {
      const text = pipeline.text({ ...fromFile, installation });
      const before = text.slice(0, text.indexOf('exec ')).split('\n');
      const installing = before.filter((line) => /\b(npm|npx) /.test(line));
      expect(installing.map((line) => line.trim().replace(/^(- )?(run: |bash: |sh )?'?|'$/g, ''))).toEqual(
        installation.install === null ? [] : [installation.install],
      );
    });
  });

  it('pins actions by commit, and does not store the credential of git', () => {
    const text = pipeline.text(fromFile);
    const used = [...text.matchAll(/\buses: .*/g)].map(([line]) => line);
    expect(used).toHaveLength(pipeline.provider === 'github' ? 2 : 0);
    const own = readFileSync(join(root, '.github/workflows/ci.yml'), 'utf8');
    for (const line of used) expect(own).toContain(line);
    if (used.length > 0) expect(text).toContain('persist-credentials: false');
  });
});

const workflows = [...pathsOfPipelinePages, 'docs/how-to/gates.md'].flatMap((path) =>
  snippets(path)
    .filter(({ language, text }) => language === 'yaml' && /^ +runs-on:/m.test(text))
    .map(({ name, text }) => [`${path}: ${name}`, text] as const),
);

it.each(workflows)('the workflow of %s starts for the same events as that of init', (_name, text) => {
  const init = pipelines.find(({ provider }) => provider === 'github')?.text(plan) ?? '';
  const [shown, written] = [text, init].map((one) => {
    const { on, concurrency } = parseYaml(one) as Record<string, unknown>;
    return { on, concurrency };
  });
  expect(shown).toEqual(written);
});

describe('docs/how-to/detach.md', () => {
  const [first, second, scheduled] = snippets('docs/how-to/detach.md')
    .filter(({ language }) => language === 'yaml')
    .map(({ text }) => text);

  it('shows the second workflow as init writes it, and lines of the first one in their order', () => {
    expect(second).toBe(resumePipeline.text(plan));
    const github = pipelines.find(({ provider }) => provider === 'github');
    const written = github?.text({ ...fromFile, detached: true }).split('\n') ?? [];
    const shown = first?.trimEnd().split('\n') ?? [];
    const places = shown.map((line) => written.indexOf(line));
    expect(places).not.toContain(-1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  });

  it('gives the scheduled job no other permission than the one of the hub', () => {
    const [one, other] = [second, scheduled].map((text) => parseYaml(text ?? '') as Record<string, unknown>);
    expect(other?.permissions).toEqual(one?.permissions);
  });
});

it('every command on the pages and in the template is a gate that replaces the shell', () => {
  const template = readFileSync(join(root, 'templates/gitlab/rungate.yml'), 'utf8');
  const commands = `${page}${template}`.split('\n').filter((line) => /\bnpx --.*rungate.* --/i.test(line));
  expect(commands).not.toEqual([]);
  for (const line of commands)
    expect(line).toMatch(/exec npx (--yes|--no-install) \S+ gate\b(?!.*(--strict|--timeout))/);
});
