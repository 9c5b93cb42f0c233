import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { capture, launch } from '../../src/host/children.ts';
import { folderForTest } from '../folders.ts';

/** On a busy machine, a program may take longer than rungate waits. */
const patientMs = 600_000;

test('capture returns what a quick command prints', () => {
  expect(capture([process.execPath, '--print', '1 + 1'], undefined, patientMs)).toBe('2\n');
});

test('capture does not pass the settings of rungate on, nor the inputs of its action', () => {
  const secrets = { RUNGATE_API_KEY: 'rg_1', rungate_token: 'rg_2', 'INPUT_API-KEY': 'rg_3' };
  const { env } = process;
  process.env = { ...env, ...secrets };
  try {
    const script = 'JSON.stringify(Object.keys(process.env))';
    const names = capture([process.execPath, '--print', script], undefined, patientMs);
    expect(JSON.parse(names ?? '[]')).toContain(Object.keys(env).find((name) => /^path$/i.test(name)));
    for (const name of Object.keys(secrets)) expect(names).not.toContain(name);
  } finally {
    process.env = env;
  }
});

test('capture passes on what a command that fails prints to stderr', () => {
  const failures: string[] = [];
  const script = 'console.error("why"); process.exit(1)';
  expect(capture([process.execPath, '--eval', script], (text) => failures.push(text), patientMs)).toBeNull();
  expect(failures).toEqual(['why\n']);
});

test.skipIf(process.platform === 'win32')('capture does not wait for a command that ignores SIGTERM', () => {
  expect(capture(['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'])).toBeNull();
});

describe.skipIf(process.platform === 'win32')('launch', () => {
  const env = { PATH: process.env.PATH };

  test.each([
    ['true', 'succeeds', ['true'], true],
    ['false', 'fails', ['false'], false],
    ['false', 'does not exist', ['rungate-no-such-program'], false],
    ['false', 'is not executable', ['/dev/null'], false],
  ])('returns %s for a program that %s', async (_result, _program, command, isLaunched) => {
    expect(await launch(command, env, patientMs)).toBe(isLaunched);
  });

  test('passes arguments unchanged, and the given environment', async () => {
    const folder = folderForTest();
    const script = 'printf "%s\\n" "$@" > "$OUT"';
    const args = ['$(id)', 'a b', '*', '"', "'"];
    await launch(['sh', '-c', script, 'sh', ...args], { ...env, OUT: join(folder, 'out') }, patientMs);
    expect(readFileSync(join(folder, 'out'), 'utf8').trimEnd().split('\n')).toEqual(args);
  });

  test('returns true for a program that keeps running', async () => {
    const folder = folderForTest();
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    expect(await launch(['cat', join(folder, 'pipe')], env)).toBe(true);
    // `cat` ends now.
    writeFileSync(join(folder, 'pipe'), '');
  });
});
