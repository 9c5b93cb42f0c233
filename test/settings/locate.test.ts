import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ConfigError, UsageError } from '../../src/errors.ts';
import { chooseProfile, findProjectFile, profilesPath } from '../../src/settings/locate.ts';

describe('findProjectFile', () => {
  const find = (cwd: string, ...present: string[]) => findProjectFile(cwd, (path) => present.includes(path));

  test.each<[string, string[], string | null]>([
    ['/repo', ['/repo/.git', '/repo/.rungate.json'], '/repo/.rungate.json'],
    ['/repo/a/b', ['/repo/.git', '/repo/.rungate.json'], '/repo/.rungate.json'],
    ['/repo/a/b', ['/repo/.git', '/repo/.rungate.json', '/repo/a/.rungate.json'], '/repo/a/.rungate.json'],
    // In a submodule or a worktree, .git is a file, and marks a repository too.
    ['/repo/sub/a', ['/repo/.git', '/repo/.rungate.json', '/repo/sub/.git'], null],
    ['/tmp/x/repo/a', ['/tmp/x/repo/.git', '/tmp/x/.rungate.json'], null],
    // Outside a repository, files in parent folders do not count: they may belong to another user.
    ['/tmp/x', ['/tmp/.rungate.json'], null],
    ['/tmp/x', ['/.rungate.json'], null],
    ['/app', ['/app/.rungate.json'], '/app/.rungate.json'],
    ['/', ['/.rungate.json'], '/.rungate.json'],
    ['/a/b', [], null],
  ])('in %s with the files %j finds %j', (cwd, present, found) => expect(find(cwd, ...present)).toBe(found));
});

describe('profilesPath', () => {
  const folder = (env: Record<string, string>, platform: string) => {
    const path = profilesPath({ env, cwd: '/work', platform });
    return path && dirname(path);
  };

  test.each<[Record<string, string>, string, string | null]>([
    [{ RUNGATE_CONFIG_DIR: '/own', HOME: '/home/me' }, 'linux', '/own'],
    [{ RUNGATE_CONFIG_DIR: 'own' }, 'linux', '/work/own'],
    [{ RUNGATE_CONFIG_DIR: ' ', HOME: '/home/me' }, 'linux', '/home/me/.config/rungate'],
    [{ HOME: '/home/me', XDG_CONFIG_HOME: '/xdg' }, 'linux', '/xdg/rungate'],
    [{ HOME: '/home/me', XDG_CONFIG_HOME: 'relative' }, 'linux', '/home/me/.config/rungate'],
    [{ HOME: '/Users/me' }, 'darwin', '/Users/me/Library/Preferences/rungate'],
    [{ APPDATA: '/data' }, 'win32', '/data/rungate/Config'],
    [{}, 'linux', null],
    [{}, 'darwin', null],
    [{}, 'win32', null],
  ])('for the environment %j on %s is %j', (env, platform, expected) =>
    expect(folder(env, platform)).toBe(expected),
  );
});

describe('chooseProfile', () => {
  test('prefers the option over the variable over the default', () => {
    expect(chooseProfile('a', 'b')).toEqual({ name: 'a', by: '--profile' });
    expect(chooseProfile(undefined, 'b')).toEqual({ name: 'b', by: 'RUNGATE_PROFILE' });
    expect(chooseProfile(undefined, ' ')).toEqual({ name: 'default', by: null });
    expect(chooseProfile(undefined, undefined)).toEqual({ name: 'default', by: null });
  });

  test.each(['', ' ', '../x', 'a b', '__proto__', '-x', 'x'.repeat(65)])('refuses the name %j', (name) => {
    expect(() => chooseProfile(name, undefined)).toThrow(UsageError);
    if (name.trim() !== '') expect(() => chooseProfile(undefined, name)).toThrow(ConfigError);
  });
});
