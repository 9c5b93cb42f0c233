import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { capture, launch } from '../../src/host/children.ts';

test('a quick command gives what it prints', () => {
  expect(capture([process.execPath, '--print', '1 + 1'])).toBe('2\n');
});

test.skipIf(process.platform === 'win32')('a command that ignores SIGTERM is not waited for', () => {
  expect(capture(['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'])).toBeNull();
});

describe.skipIf(process.platform === 'win32')('a program that is launched', () => {
  const env = { PATH: process.env.PATH };

  test.each([
    ['ends well', ['true'], true],
    ['fails', ['false'], false],
    ['is not there', ['rungate-no-such-program'], false],
    ['may not be run', ['/dev/null'], false],
  ])('%s', async (_what, command, isGood) => {
    expect(await launch(command, env)).toBe(isGood);
  });

  test('gets its arguments as they are, and the given environment', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rungate-launch-'));
    const script = 'printf "%s\\n" "$@" > "$OUT"';
    const words = ['$(id)', 'a b', '*', '"', "'"];
    await launch(['sh', '-c', script, 'sh', ...words], { ...env, OUT: join(folder, 'out') });
    expect(readFileSync(join(folder, 'out'), 'utf8').trimEnd().split('\n')).toEqual(words);
    rmSync(folder, { recursive: true });
  });

  test('may stay for as long as it likes', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'rungate-launch-'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(await launch(['cat', join(folder, 'pipe')], env)).toBe(true);
    // Ends it.
    writeFileSync(join(folder, 'pipe'), '');
    rmSync(folder, { recursive: true });
  });
});
