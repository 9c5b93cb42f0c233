import { describe, expect, it } from 'vitest';
import { cli } from '../../cli/harness.ts';
import { textOf } from '../../docs/pages.ts';

const text = textOf('SKILL.md');
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

  it('writes to the working directory outside a repository', async () => {
    const files: Record<string, string> = {};
    expect((await cli(['init', '--skill'], { cwd: '/work', files })).code).toBe(0);
    expect(Object.keys(files)).toEqual(['/work/.agents/skills/rungate/SKILL.md']);
  });

  it('leaves the same content unchanged', async () => {
    expect((await init({ [path]: text })).out).toBe('unchanged: ../../.agents/skills/rungate/SKILL.md\n');
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

  it('shows the file with --dry-run without writing it', async () => {
    const files: Record<string, string> = {};
    const { code, out } = await init(files, '--dry-run');
    expect({ code, out }).toEqual({
      code: 0,
      out: `would write ../../.agents/skills/rungate/SKILL.md\n\n${text}\n`,
    });
    expect(Object.keys(files)).toEqual(['/repo/.git']);
  });

  it('prints the same as JSON with --json', async () => {
    expect(JSON.parse((await init({}, '--json')).out)).toEqual({
      schemaVersion: 1,
      dryRun: false,
      ci: 'none',
      files: [{ path, text, fate: 'written' }],
      command: null,
    });
  });

  it.each([
    ['--project', 'shop'],
    ['--process', 'checkout'],
    ['--tag', 'smoke'],
    ['--environment', 'staging'],
    ['--api-url', 'https://service.example.com'],
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
