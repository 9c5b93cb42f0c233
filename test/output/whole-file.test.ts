import {
  lstatSync,
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
import { writeWholeFile } from '../../src/output/whole-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-file-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('a whole file', () => {
  it('comes with the folders above it, readable as any other', () => {
    const path = join(folder, 'a', 'b', 'report.xml');
    writeWholeFile(path, 'one');
    writeWholeFile(path, 'two');
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(readdirSync(join(folder, 'a', 'b'))).toEqual(['report.xml']);
    expect(statSync(join(folder, 'a')).mode & 0o700).toBe(0o700);
    expect(statSync(path).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it('takes the place of what a link points to, with its mode, and the link stays', () => {
    const [file, link] = [join(folder, 'real'), join(folder, 'link')];
    writeFileSync(file, 'old', { mode: 0o640 });
    symlinkSync(file, link);
    writeWholeFile(link, 'new');
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('new');
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it('leaves nothing behind where it cannot be', () => {
    const place = join(folder, 'taken');
    mkdirSync(place);
    expect(() => writeWholeFile(place, 'x')).toThrow(/EISDIR/);
    writeFileSync(join(folder, 'file'), '');
    expect(() => writeWholeFile(join(folder, 'file', 'below'), 'x')).toThrow(
      Number(process.versions.node.split('.')[0]) < 22 ? /ENOTDIR/ : /EEXIST/,
    );
    expect(readdirSync(folder).sort()).toEqual(['file', 'taken']);
  });

  it.skipIf(process.platform === 'win32')('is written to what is no file, which stays what it is', () => {
    writeWholeFile('/dev/null', 'x');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});
