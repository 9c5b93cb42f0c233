import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { gitFacts } from '../../src/ci/provider.ts';
import { folderForFile } from '../folders.ts';

const none = { remote: null, branch: null, commit: null };
const sha = '83a20ec058e2fb00e7fa4558c4c6e81e2dcf253d';

/** Reads from a fake git, whose output depends on the last argument. */
const factsFrom = (outputs: Record<string, string>) => gitFacts((args) => outputs[args.at(-1) ?? ''] ?? null);

describe('gitFacts', () => {
  test('returns nulls if git fails', () => expect(gitFacts(() => null)).toEqual(none));

  test.each(['', '\n', ' \n', 'warning: x\nmain\n'])('returns nulls if git prints %j', (text) =>
    expect(gitFacts(() => text)).toEqual(none),
  );

  test.each(['HEAD', `${sha.slice(0, 12)}`, `^${sha}`, `${sha} `.repeat(2)])(
    'rejects the commit %j',
    (text) => expect(factsFrom({ 'HEAD^{commit}': text }).commit).toBeNull(),
  );
});

describe('gitFacts in a real working copy', () => {
  const folder = folderForFile();
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...args], {
      cwd: folder,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null' },
    });
  const facts = () =>
    gitFacts((args) => {
      try {
        return git(...args);
      } catch {
        return null;
      }
    });

  test('follows init, commit, remote, branch and a detached HEAD', () => {
    expect(facts()).toEqual(none);
    git('init', '--quiet', '--initial-branch', 'main');
    expect(facts()).toEqual({ ...none, branch: 'main' });

    writeFileSync(join(folder, 'a'), 'a');
    git('add', 'a');
    git('commit', '--quiet', '--message', 'a');
    const commit = git('rev-parse', 'HEAD').trim();
    expect(facts()).toEqual({ ...none, branch: 'main', commit });

    git('remote', 'add', 'origin', 'gh:acme/web.git');
    git('config', 'url.https://user:secret@github.com/.insteadOf', 'gh:');
    git('checkout', '--quiet', '-b', 'feature/login');
    // The configured URL: the replacement from `insteadOf` may contain a token.
    expect(facts()).toEqual({ remote: 'gh:acme/web.git', branch: 'feature/login', commit });

    git('checkout', '--quiet', '--detach');
    expect(facts()).toEqual({ remote: 'gh:acme/web.git', branch: null, commit });
  });
});
