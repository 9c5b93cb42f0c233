import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import {
  appendToFile,
  checkWritable,
  createSecretFile,
  removeFile,
  writeWholeFile,
} from '../../src/host/write-file.ts';
import { folderForTest } from '../folders.ts';

let folder: string;
beforeEach(() => {
  folder = folderForTest();
});

describe('createSecretFile', () => {
  it('neither removes nor believes to have written a file that has been put in its place', () => {
    const path = join(folder, 'token');
    const file = createSecretFile(path);
    writeFileSync(join(folder, 'other'), 'other');
    renameSync(join(folder, 'other'), path);
    expect(() => file.write('secret')).toThrow('ENOENT');
    file.close();
    expect(readFileSync(path, 'utf8')).toBe('other');
  });
});

describe('removeFile', () => {
  const path = () => join(folder, 'receipt.json');

  it('removes a file, and does nothing without one', () => {
    writeFileSync(path(), 'old');
    removeFile(path());
    removeFile(path());
    removeFile(join(folder, 'none', 'receipt.json'));
    expect(readdirSync(folder)).toEqual([]);
  });

  it.each(['real', 'none'])('removes a link to %s, and keeps its target', (target) => {
    writeFileSync(join(folder, 'real'), 'old');
    symlinkSync(join(folder, target), path());
    removeFile(path());
    expect(readdirSync(folder)).toEqual(['real']);
    expect(readFileSync(join(folder, 'real'), 'utf8')).toBe('old');
  });

  it('refuses a folder', () => {
    mkdirSync(path());
    expect(() => removeFile(path())).toThrow(/EISDIR|EPERM/);
    expect(readdirSync(folder)).toEqual(['receipt.json']);
  });
});

describe('writeWholeFile', () => {
  it('replaces a file and keeps its mode', () => {
    const file = join(folder, 'report.xml');
    writeFileSync(file, 'old', { mode: 0o640 });
    writeWholeFile(file, 'new');
    expect(statSync(file).mode & 0o777).toBe(0o640);
  });

  it.each(['a file', 'nothing'])('replaces a link to %s, and not its target', (to) => {
    const [target, link] = [join(folder, 'target'), join(folder, 'link')];
    if (to === 'a file') writeFileSync(target, 'old');
    const before = readdirSync(folder);
    symlinkSync(target, link);
    writeWholeFile(link, 'new');
    expect([lstatSync(link).isFile(), readFileSync(link, 'utf8')]).toEqual([true, 'new']);
    expect(readdirSync(folder)).toEqual(['link', ...before]);
    if (to === 'a file') expect(readFileSync(target, 'utf8')).toBe('old');
  });

  it('leaves no draft behind when it fails', () => {
    const place = join(folder, 'taken');
    mkdirSync(place);
    expect(() => writeWholeFile(place, 'x')).toThrow(/EISDIR/);
    writeFileSync(join(folder, 'file'), '');
    expect(() => writeWholeFile(join(folder, 'file', 'below'), 'x')).toThrow(/ENOTDIR|EEXIST/);
    expect(readdirSync(folder).sort()).toEqual(['file', 'taken']);
  });

  it.skipIf(process.platform === 'win32')('writes to a device without replacing it, or a link to it', () => {
    const link = join(folder, 'link');
    symlinkSync('/dev/null', link);
    for (const path of ['/dev/null', link]) writeWholeFile(path, 'x');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });
});

describe('checkWritable', () => {
  it('leaves an old file as it is, and creates neither a file nor a folder', () => {
    const path = join(folder, 'report.xml');
    writeFileSync(path, 'old', { mode: 0o444 });
    for (const place of [path, join(folder, 'new.xml'), join(folder, 'a', 'b', 'new.xml')])
      checkWritable(place);
    expect([readdirSync(folder), readFileSync(path, 'utf8')]).toEqual([['report.xml'], 'old']);
  });

  it.skipIf(process.platform !== 'linux')('does not open a pipe, whose reader would see its end', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    checkWritable(pipe);
    checkWritable('/dev/null');
  });

  it.skipIf(process.platform !== 'linux')('refuses what cannot be written', () => {
    writeFileSync(join(folder, 'file'), '');
    expect(() => checkWritable(folder)).toThrow('EISDIR');
    expect(() => checkWritable(join(folder, 'file', 'a', 'b'))).toThrow('ENOTDIR');
    expect(() => checkWritable('/proc/a/b')).toThrow('ENOENT');
    expect(readdirSync(folder)).toEqual(['file']);
  });
});

describe.skipIf(process.platform === 'win32')('writing to a named pipe', () => {
  const pipe = () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    return path;
  };

  it('fails at once without a reader', () => {
    const path = pipe();
    expect(() => writeWholeFile(path, 'x')).toThrow('ENXIO');
    expect(() => appendToFile(path, () => 'x')).toThrow('ENXIO');
    expect(lstatSync(path).isFIFO()).toBe(true);
  });

  it('delivers everything to a slow reader', async () => {
    const path = pipe();
    const slow = `exec 3<"$1"; echo open; sleep 0.2; wc -c <&3`;
    const reader = spawn('sh', ['-c', slow, 'sh', path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const writer = spawn('sh', ['-c', 'exec 4>"$1"; exec sleep 60', 'sh', path]);
    await once(reader.stdout, 'data');
    writeWholeFile(path, 'x'.repeat(300_000));
    writer.kill();
    expect(String(await once(reader.stdout, 'data')).trim()).toBe('300000');
  });
});

describe('appendToFile', () => {
  it('passes the content to the callback, empty for a device and a missing file', () => {
    const path = join(folder, 'log');
    const add = (content: Uint8Array) => `${content.length};`;
    appendToFile(path, add);
    appendToFile(path, add);
    appendToFile('/dev/null', add);
    expect(readFileSync(path, 'utf8')).toBe('0;2;');
  });
});
