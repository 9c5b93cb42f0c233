import {
  chmodSync,
  existsSync,
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
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { openStateFile, type StateFile, type StateFileOptions } from '../../src/host/state-file.ts';
import { until } from '../until.ts';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'rungate-state-'));
  path = join(folder, 'config', 'state.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (file: string) => statSync(file).mode & 0o777;
const format = { parse: (text: string) => ({ text }), write: (data: { text?: string }) => data.text ?? '' };
const append = (file: StateFile, more: string) =>
  file.change(format, ({ text = '' }: { text?: string }) => ({ text: text + more }));
const appendTo = (place: string, more: string, options?: StateFileOptions) =>
  append(openStateFile(place, options), more);

describe('a file of state', () => {
  it('that is not there is null, and reading makes nothing', () => {
    expect(openStateFile(path).read()).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('and its folder are for their owner alone, whatever the umask and whatever was there', async () => {
    const before = process.umask(0);
    try {
      await appendTo(path, 'a');
      expect(modeOf(path)).toBe(0o600);
      expect(modeOf(join(folder, 'config'))).toBe(0o700);
      chmodSync(path, 0o666);
      expect(openStateFile(path).read()).toEqual({ text: 'a', exposed: true });
      await appendTo(path, 'b');
      expect(openStateFile(path).read()).toEqual({ text: 'ab', exposed: false });
    } finally {
      process.umask(before);
    }
  });

  it('leaves nothing beside it', async () => {
    await appendTo(path, 'a');
    await appendTo(path, 'b');
    expect(readdirSync(join(folder, 'config'))).toEqual(['state.json']);
  });

  it('is as it was when the change fails', async () => {
    const state = openStateFile(path);
    await append(state, 'a');
    const failing = state.change(format, () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(readFileSync(path, 'utf8')).toBe('a');
    expect(readdirSync(join(folder, 'config'))).toEqual(['state.json']);
  });

  it('is changed where a link leads to', async () => {
    mkdirSync(join(folder, 'config'));
    writeFileSync(join(folder, 'kept.json'), 'a');
    symlinkSync(join(folder, 'kept.json'), path);
    await appendTo(path, 'b');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'kept.json'), 'utf8')).toBe('ab');
  });

  it('keeps every one of many changes at once', async () => {
    await Promise.all(Array.from({ length: 50 }, () => appendTo(path, 'x')));
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(50));
  });

  it('is set aside whole, once, and only as it was seen', async () => {
    const state = openStateFile(path);
    await append(state, 'torn');
    expect(await state.setAside('other', 'x')).toBeNull();
    expect(await state.setAside('torn', 'x')).toBe(`${path}.x`);
    expect(await state.setAside('torn', 'y')).toBeNull();
    expect(state.read()).toBeNull();
    expect(readFileSync(`${path}.x`, 'utf8')).toBe('torn');
  });

  it('that is a folder is an error of the file system', () => {
    mkdirSync(path, { recursive: true });
    expect(() => openStateFile(path).read()).toThrow(/EISDIR/);
  });
});

describe('a lock', () => {
  const lock = () => `${path}.lock`;
  beforeEach(() => mkdirSync(join(folder, 'config')));

  it('that was left behind is taken away, by many at once too', async () => {
    writeFileSync(lock(), 'a process that was killed');
    const all = Array.from({ length: 20 }, () => appendTo(path, 'x', { staleMs: 30 }));
    await Promise.all(all);
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(20));
    expect(readdirSync(join(folder, 'config'))).toEqual(['state.json']);
  });

  it('that is held is waited for', async () => {
    writeFileSync(lock(), 'somebody');
    const pauses = vi.spyOn(systemClock, 'sleep');
    onTestFinished(() => pauses.mockRestore());
    const change = appendTo(path, 'x');
    await until(() => pauses.mock.calls.length > 3);
    expect(existsSync(path)).toBe(false);
    rmSync(lock());
    await change;
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  it('that can be neither had nor taken away is an error in the end', async () => {
    mkdirSync(lock());
    const change = appendTo(path, 'x', { staleMs: 1e9, giveUpMs: 50 });
    await expect(change).rejects.toMatchObject({ code: 'ELOCKED' });
  });
});
