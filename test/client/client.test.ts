import { expect, test } from 'vitest';
import { bindApi, createClient } from '../../src/client/create-client.ts';
import { UsageError } from '../../src/errors.ts';
import { rejection } from './rejection.ts';

test('the client names its options in errors as they are passed', () => {
  const options = { apiUrl: 'https://service.example.com', keyPem: 'key' };
  expect(() => createClient(options)).toThrow('keyPem has no effect without certPem');
});

test('a method refuses arguments of the wrong number or type and shows the correct call', async () => {
  const tree: unknown = bindApi({ exchange: () => expect.unreachable() });
  const { run, env } = tree as Record<string, Record<string, (...args: unknown[]) => Promise<unknown>>>;
  const messageOf = async (call: Promise<unknown> | undefined) =>
    (await rejection(Promise.resolve(call), UsageError)).message;
  expect(await messageOf(run?.status?.())).toBe(
    'run.status: runId must be a string; the call is run.status(runId, options)',
  );
  expect(await messageOf(run?.status?.('r', {}, {}))).toContain(
    'run.status takes runId, options; 3 arguments were given',
  );
  await messageOf(run?.status?.(7));
  await messageOf(run?.status?.('r', 'now'));
  await messageOf(env?.list?.('2'));
});
