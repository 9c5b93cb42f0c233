import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { pipesReadOnce, readWholeFile } from '../../src/host/read-file.ts';
import { folderForTest } from '../folders.ts';

let folder: string;
beforeEach(() => {
  folder = folderForTest();
});

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe('readWholeFile', () => {
  it('reads only the first bytes of a larger file, of a device and of a pipe', () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'abcdef');
    expect(text(readWholeFile(path, 4))).toBe('abcd');
    expect(text(readWholeFile(path, 6))).toBe('abcdef');
    if (process.platform === 'win32') return;
    expect(readWholeFile('/dev/zero', 100_000)).toHaveLength(100_000);
  });

  it.each([
    ['a missing file', 'missing', 'ENOENT'],
    ['a folder', '.', 'EISDIR'],
  ])('throws for %s', (_what, name, code) => {
    expect(() => readWholeFile(join(folder, name))).toThrow(expect.objectContaining({ code }));
  });
});

describe.skipIf(process.platform === 'win32')('readWholeFile of a named pipe', () => {
  let pipe: string;
  beforeEach(() => {
    pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
  });

  it('times out without a writer', () => {
    expect(() => readWholeFile(pipe, undefined, 20)).toThrow('ETIMEDOUT: no data arrived in 0.02 s');
  });

  it('pipesReadOnce returns the same content again', () => {
    const read = pipesReadOnce();
    spawn('sh', ['-c', `printf key > '${pipe}'`], { stdio: 'ignore' });
    expect([text(read(pipe)), text(read(pipe))]).toEqual(['key', 'key']);
  });

  it('times out when the writer falls silent', () => {
    const writer = spawn('sh', ['-c', `{ printf a; exec sleep 60; } > '${pipe}'`], { stdio: 'ignore' });
    try {
      expect(() => readWholeFile(pipe, undefined, 500)).toThrow('ETIMEDOUT');
    } finally {
      writer.kill();
    }
  });
});

describe.skipIf(process.platform === 'win32')('readWholeFile of a device', () => {
  it('throws for a device that never ends', () => {
    expect(() => readWholeFile('/dev/zero')).toThrow('EFBIG: more than 64 MiB');
  });
});
