import { describe, expect, it } from 'vitest';
import { cli } from '../../cli/harness.ts';
import { textOf } from '../../docs/pages.ts';

const text = textOf('skills/rungate/SKILL.md');
const path = '/repo/.agents/skills/rungate/SKILL.md';
const init = (files: Record<string, string>, ...options: string[]) =>
  cli(['init', '--skill', ...options], {
    cwd: '/repo/packages/web',
    files: Object.assign(files, { '/repo/.git': '' }),
  });

describe('rungate init --skill', () => {
  it('writes SKILL.md and no other file, without prompts', async () => {
    const files = { '/repo/.github/workflows': '' };
    expect(await init(files)).toEqual({
      code: 0,
      out: 'wrote ../../.agents/skills/rungate/SKILL.md\n',
      err: '',
    });
    expect(files).toEqual({ '/repo/.github/workflows': '', '/repo/.git': '', [path]: text });
  });

  it.each([
    [['.claude', '.cursor', '.agents'], '.agents'],
    [['.cursor', '.github', '.claude'], '.claude'],
    [['.cursor', '.github'], '.github'],
    [['.cursor'], '.cursor'],
  ])('writes into the first folder of skills that exists: of %j into %s', async (present, chosen) => {
    const files = Object.fromEntries(present.map((name) => [`/repo/${name}/skills`, '']));
    expect((await init(files)).code).toBe(0);
    expect(Object.keys(files).filter((name) => name.endsWith('.md'))).toEqual([
      `/repo/${chosen}/skills/rungate/SKILL.md`,
    ]);
  });

  it('replaces other content only with --force', async () => {
    const files = { [path]: 'ours' };
    const refused = await init(files);
    expect(refused).toMatchObject({ code: 64, out: '' });
    expect(refused.err).toMatch(/SKILL\.md already exists with different content\n.*--force/);
    expect(files[path]).toBe('ours');
    expect(await init(files, '--force')).toMatchObject({ code: 0, err: '' });
    expect(files[path]).toBe(text);
  });

  it.each([
    ['--project', 'shop'],
    ['--gates', 'api,web'],
    ['--ci', 'github'],
    ['--merge-queue'],
    ['--pipeline-only'],
  ])('cannot be combined with %s', async (option, ...value) => {
    const files = {};
    const { code, err } = await init(files, option, ...value);
    expect(code).toBe(64);
    expect(err).toContain(`--skill and ${option} cannot be combined`);
    expect(Object.keys(files)).toEqual(['/repo/.git']);
  });
});
