import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
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
import { appendToFile, writeWholeFile } from '../../src/host/write-file.ts';

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
    expect(() => writeWholeFile(join(folder, 'file', 'below'), 'x')).toThrow(/ENOTDIR|EEXIST/);
    expect(readdirSync(folder).sort()).toEqual(['file', 'taken']);
  });

  it.skipIf(process.platform === 'win32')('is written to what is no file, which stays what it is', () => {
    writeWholeFile('/dev/null', 'x');
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);
  });
});

describe.skipIf(process.platform === 'win32')('a named pipe', () => {
  const pipe = () => {
    const path = join(folder, 'pipe');
    execFileSync('mkfifo', [path]);
    return path;
  };

  it('without a reader is an error at once', () => {
    const path = pipe();
    expect(() => writeWholeFile(path, 'x')).toThrow('no process reads this pipe');
    expect(() => appendToFile(path, () => 'x')).toThrow('no process reads this pipe');
    expect(lstatSync(path).isFIFO()).toBe(true);
  });

  it('passes everything to a reader, however slowly it reads', async () => {
    const path = pipe();
    const slow = `exec 3<"$1"; echo open; sleep 0.2; wc -c <&3`;
    const reader = spawn('sh', ['-c', slow, 'sh', path], { stdio: ['ignore', 'pipe', 'inherit'] });
    const writer = spawn('sh', ['-c', 'exec 4>"$1"; exec sleep 60', 'sh', path]);
    await once(reader.stdout, 'data');
    writeWholeFile(path, 'x'.repeat(300_000));
    writer.kill();
    expect(String(await once(reader.stdout, 'data')).trim()).toBe('300000');
  });

  it('whose reader takes nothing is an error after a while', async () => {
    const path = pipe();
    const reader = spawn('sh', ['-c', 'exec 3<>"$1"; echo open; exec sleep 60', 'sh', path]);
    await once(reader.stdout, 'data');
    expect(() => writeWholeFile(path, 'x'.repeat(300_000), 50)).toThrow('takes nothing');
    reader.kill();
  });
});

describe('what is appended', () => {
  it('may depend on the content, which a device and a missing file do not have', () => {
    const path = join(folder, 'log');
    const add = (content: Uint8Array) => `${content.length};`;
    appendToFile(path, add);
    appendToFile(path, add);
    appendToFile('/dev/null', add);
    expect(readFileSync(path, 'utf8')).toBe('0;2;');
  });
});
