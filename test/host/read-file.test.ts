import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pipesReadOnce, readWholeFile } from '../../src/host/read-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-read-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe('a file', () => {
  it('is read whole', () => {
    const path = join(folder, 'file');
    writeFileSync(path, 'one');
    expect(text(readWholeFile(path))).toBe('one');
    writeFileSync(path, '');
    expect(readWholeFile(path)).toHaveLength(0);
  });

  it.each([
    ['that is missing', 'missing', 'ENOENT'],
    ['that is a folder', '.', 'EISDIR'],
  ])('%s is an error', (_what, name, code) => {
    expect(() => readWholeFile(join(folder, name))).toThrow(expect.objectContaining({ code }));
  });
});

describe.skipIf(process.platform === 'win32')('a named pipe', () => {
  let pipe: string;
  beforeEach(() => {
    pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
  });

  it('without a writer is an error, in time', () => {
    expect(() => readWholeFile(pipe, 20)).toThrow('ETIMEDOUT: nothing came in 0.02 s');
  });

  it('is read to its end, however late the writer comes and in whatever parts it writes', () => {
    const part = 'x'.repeat(70_000);
    const script = `sleep 0.1; { printf a; sleep 0.1; printf ${part}; sleep 0.1; printf z; } > '${pipe}'`;
    spawn('sh', ['-c', script], { stdio: 'ignore' });
    expect(text(readWholeFile(pipe))).toBe(`a${part}z`);
  });

  it('gives the same to who asks again', () => {
    const read = pipesReadOnce();
    spawn('sh', ['-c', `printf key > '${pipe}'`], { stdio: 'ignore' });
    expect([text(read(pipe)), text(read(pipe))]).toEqual(['key', 'key']);
  });

  it('whose writer falls silent is an error, in time', () => {
    const writer = spawn('sh', ['-c', `{ printf a; exec sleep 60; } > '${pipe}'`], { stdio: 'ignore' });
    try {
      expect(() => readWholeFile(pipe, 500)).toThrow('ETIMEDOUT');
    } finally {
      writer.kill();
    }
  });
});

it('a file that has changed is read anew', () => {
  const [read, path] = [pipesReadOnce(), join(folder, 'file')];
  expect(() => read(path)).toThrow(expect.objectContaining({ code: 'ENOENT' }));
  for (const content of ['one', 'two']) {
    writeFileSync(path, content);
    expect(text(read(path))).toBe(content);
  }
});

describe.skipIf(process.platform === 'win32')('a device', () => {
  it('without content is empty', () => {
    expect(readWholeFile('/dev/null')).toHaveLength(0);
  });

  it('that never ends is an error', () => {
    expect(() => readWholeFile('/dev/zero')).toThrow('EFBIG: it does not end');
  });
});
