import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
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
  // On macOS, the folder for temporary files is below a link.
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'rungate-state-')));
  path = join(folder, 'config', 'state.json');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const modeOf = (file: string) => statSync(file).mode & 0o777;
const format = { parse: (text: string) => ({ text }), write: (data: { text?: string }) => data.text ?? '' };
const append = (file: StateFile, more: string) =>
  file.change(format, ({ text = '' }: { text?: string }) => ({ text: text + more }));
const appendTo = (place: string, more: string, options?: StateFileOptions) =>
  append(openStateFile(place, options), more);

describe('a state file', () => {
  it('reads as null if it does not exist, and is not created', () => {
    expect(openStateFile(path).read()).toBeNull();
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is accessible only to its owner, as is its folder, whatever the umask and the previous mode', async () => {
    const before = process.umask(0);
    try {
      await appendTo(path, 'a');
      expect(modeOf(path)).toBe(0o600);
      expect(modeOf(join(folder, 'config'))).toBe(0o700);
      chmodSync(path, 0o666);
      expect(openStateFile(path).read()).toEqual({ text: 'a', exposed: true, foreign: false });
      await appendTo(path, 'b');
      expect(openStateFile(path).read()).toEqual({ text: 'ab', exposed: false, foreign: false });
    } finally {
      process.umask(before);
    }
  });

  it('keeps its text when a change fails', async () => {
    const state = openStateFile(path);
    await append(state, 'a');
    const failing = state.change(format, () => {
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(readFileSync(path, 'utf8')).toBe('a');
    expect(readdirSync(join(folder, 'config'))).toEqual(['state.json']);
  });

  it('changes the target of a link and keeps the link', async () => {
    mkdirSync(join(folder, 'config'));
    writeFileSync(join(folder, 'kept.json'), 'a');
    symlinkSync(join(folder, 'kept.json'), path);
    await appendTo(path, 'b');
    expect(lstatSync(path).isSymbolicLink()).toBe(true);
    expect(readFileSync(join(folder, 'kept.json'), 'utf8')).toBe('ab');
  });

  it('applies every one of many concurrent changes', async () => {
    await Promise.all(Array.from({ length: 50 }, () => appendTo(path, 'x')));
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(50));
  });
});

describe('the lock of a state file', () => {
  const lock = () => `${path}.lock`;
  beforeEach(() => mkdirSync(join(folder, 'config')));

  it('is removed if it is stale, also by many processes at once', async () => {
    writeFileSync(lock(), 'a process that was killed');
    const all = Array.from({ length: 20 }, () => appendTo(path, 'x', { staleMs: 30 }));
    await Promise.all(all);
    expect(readFileSync(path, 'utf8')).toBe('x'.repeat(20));
    expect(readdirSync(join(folder, 'config'))).toEqual(['state.json']);
  });

  it('delays a change while another process holds it', async () => {
    writeFileSync(lock(), 'another process');
    const pauses = vi.spyOn(systemClock, 'sleep');
    onTestFinished(() => pauses.mockRestore());
    const change = appendTo(path, 'x');
    await until(() => pauses.mock.calls.length > 3);
    expect(existsSync(path)).toBe(false);
    rmSync(lock());
    await change;
    expect(readFileSync(path, 'utf8')).toBe('x');
  });

  it('makes a change fail if it can be neither taken nor removed', async () => {
    mkdirSync(lock());
    const change = appendTo(path, 'x', { staleMs: 1e9, giveUpMs: 50 });
    await expect(change).rejects.toMatchObject({ code: 'ELOCKED' });
  });
});
