import { describe, expect, onTestFinished, test } from 'vitest';
import type { Caller, CallerInput, CallOptions } from '../../src/client/caller.ts';
import { bindApi, createClient } from '../../src/client/create-client.ts';
import { api } from '../../src/contract/index.ts';
import { UsageError } from '../../src/errors.ts';
import { redactNothing } from '../../src/redact.ts';
import { fakeClock } from '../fake-clock.ts';
import { secrets } from '../transport/connect.ts';
import { json, serve } from '../transport/serve.ts';
import { rejection } from './rejection.ts';

/** Returns the methods of a client whose caller only records the calls. */
function recordingClient() {
  const calls: { name: string; input: CallerInput; options: CallOptions | undefined }[] = [];
  const caller: Pick<Caller, 'exchange'> = {
    async exchange(name, _, input, options) {
      calls.push({ name, input, options });
      return {
        value: { name },
        mismatches: [],
        text: '',
        isJson: true,
        status: 200,
        request: 'GET /',
        headers: {},
        requests: 1,
        elapsedMs: 0,
        redact: redactNothing,
      };
    },
  };
  return { tree: bindApi(caller), calls };
}

describe('the methods of the client', () => {
  test('every endpoint is a method under its dotted name', async () => {
    const { tree, calls } = recordingClient();
    for (const [name, endpoint] of Object.entries(api)) {
      const method = name
        .split('.')
        .reduce<unknown>((at, part) => (at as Record<string, unknown>)[part], tree);
      const params = [...endpoint.path.matchAll(/\{/g)].map(() => 'x');
      expect(await (method as (...args: string[]) => Promise<unknown>)(...params)).toEqual(
        'list' in endpoint ? { name, items: [] } : { name },
      );
    }
    expect(calls.map(({ name }) => name)).toEqual(Object.keys(api));
  });

  test('names its options in errors as they are passed', () => {
    const options = { apiUrl: 'https://service.example.com', keyPem: 'key' };
    expect(() => createClient(options)).toThrow('keyPem has no effect without certPem');
  });

  test('refuses arguments of the wrong number or type and shows the correct call', async () => {
    const { tree, calls } = recordingClient();
    const loose = tree as unknown as Record<
      'run' | 'env',
      Record<string, (...args: unknown[]) => Promise<unknown>>
    >;
    const missing = await rejection(Promise.resolve(loose.run.status?.()), UsageError);
    expect(missing.message).toBe(
      'run.status: runId must be a string; the call is run.status(runId, options)',
    );
    await rejection(Promise.resolve(loose.run.status?.(7)), UsageError);
    await rejection(Promise.resolve(loose.run.status?.('r', 'now')), UsageError);
    await rejection(Promise.resolve(loose.env.list?.('2')), UsageError);
    const many = await rejection(Promise.resolve(loose.run.status?.('r', {}, {})), UsageError);
    expect(many.message).toContain('run.status takes runId, options; 3 arguments were given');
    expect(calls).toEqual([]);
  });
});

test('the client sends requests as the API describes them and returns the response bodies', async () => {
  const { url, seen } = await serve(({ seen: one, response }) =>
    json(response, 200, { state: 'in_progress', at: one.url }),
  );
  const client = createClient({ apiUrl: url, ...secrets, clock: fakeClock() });
  onTestFinished(() => client.close());
  await client.run.trigger({ projectSlug: 'shop', tags: ['smoke'] }, { idempotencyKey: 'k1' });
  expect(await client.run.status('run 1')).toEqual({ state: 'in_progress', at: '/api/ci/runs/run%201' });
  expect(seen[0]).toMatchObject({
    method: 'POST',
    url: '/api/ci/runs',
    body: '{"projectSlug":"shop","tags":["smoke"]}',
  });
  expect(seen[0]?.headers).toMatchObject({ 'x-api-key': secrets.apiKey, 'idempotency-key': 'k1' });
  expect(seen[0]?.headers).not.toHaveProperty('authorization');
});
