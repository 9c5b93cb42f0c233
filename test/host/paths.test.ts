import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { makeFolders } from '../../src/host/paths.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-folders-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a folder', () => {
  it('is made with those above it, each with the mode', () => {
    const path = join(folder, 'a', 'b', 'c');
    makeFolders(path, 0o700);
    makeFolders(path, 0o700);
    expect(statSync(path).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, 'a')).mode & 0o777).toBe(0o700);
  });

  it('may be a link to one, and may be below it', () => {
    mkdirSync(join(folder, 'real'));
    symlinkSync(join(folder, 'real'), join(folder, 'link'));
    makeFolders(join(folder, 'link'));
    makeFolders(join(folder, 'link', 'below'));
    expect(readdirSync(join(folder, 'real'))).toEqual(['below']);
  });

  it.each([
    ['is a file', 'file', /^EEXIST$/],
    // Node 24 says EEXIST.
    ['is below a file', 'file/a/b', /^(ENOTDIR|EEXIST)$/],
    ['is a link to nothing', 'nowhere', /^EEXIST$/],
  ])('that %s is an error', (_what, name, code) => {
    writeFileSync(join(folder, 'file'), '');
    symlinkSync(join(folder, 'none'), join(folder, 'nowhere'));
    expect(() => makeFolders(join(folder, name))).toThrow(
      expect.objectContaining({ code: expect.stringMatching(code) }),
    );
    expect(readdirSync(folder).toSorted()).toEqual(['file', 'nowhere']);
  });
});

describe('every folder', () => {
  it('is made here: the recursive mkdir of Node never returns below /proc', () => {
    const src = new URL('../../src/', import.meta.url);
    const making = readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .filter((name) => /\bmkdir(?:Sync)?\b/.test(readFileSync(new URL(name, src), 'utf8')));
    expect(making).toEqual(['host/paths.ts']);
  });
});
