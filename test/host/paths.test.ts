import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { makeFolders } from '../../src/host/paths.ts';
import { folderForTest } from '../folders.ts';

let folder: string;
beforeEach(() => {
  folder = folderForTest();
});

describe('makeFolders', () => {
  it('creates a folder and its parents, each with the mode', () => {
    const path = join(folder, 'a', 'b', 'c');
    makeFolders(path, 0o700);
    makeFolders(path, 0o700);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
  });

  it('accepts a link to a folder, also as a parent', () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    makeFolders(join(folder, 'link'));
    makeFolders(join(folder, 'link', 'below'));
    expect(readdirSync(join(folder, 'real'))).toEqual(['below']);
  });

  it.each([
    ['a file', 'file', /^EEXIST$/],
    // Node 24 throws EEXIST.
    ['a path below a file', 'file/a/b', /^(ENOTDIR|EEXIST)$/],
    ['a dangling link', 'nowhere', /^EEXIST$/],
  ])('refuses %s', (_what, name, code) => {
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(join(folder, 'none'), join(folder, 'nowhere'));
    expect(() => makeFolders(join(folder, name))).toThrow(
      expect.objectContaining({ code: expect.stringMatching(code) }),
    );
    expect(readdirSync(folder).toSorted()).toEqual(['file', 'nowhere']);
  });

  it('is the only caller of mkdir, since the recursive mkdir of Node never returns below /proc', () => {
    const src = new URL('../../src/', import.meta.url);
    const callers = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .filter((name) => /\bmkdir(?:Sync)?\b/.test(readFileSync(new URL(name, src), 'utf8')));
    expect(callers).toEqual(['host/paths.ts']);
  });
});
