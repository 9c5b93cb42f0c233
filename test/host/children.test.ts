import { expect, test } from 'vitest';
import { capture } from '../../src/host/children.ts';

test('a quick command gives what it prints', () => {
  expect(capture([process.execPath, '--print', '1 + 1'])).toBe('2\n');
});

test.skipIf(process.platform === 'win32')('a command that ignores SIGTERM is not waited for', () => {
  expect(capture(['sh', '-c', 'trap "" TERM; while :; do sleep 1; done'])).toBeNull();
});
