import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createClient, gate, startRun } from '../../src/index.ts';
import { fakeClock } from '../fake-clock.ts';

const apiKey = 'rg_Zk3J9aQ7Lm2XvT5bNc8RfW1dHs6Gy4PeUo0Ki';
/** A secret of a request, which no option contains, in several lines. */
const password = 'first-Line_4711\n  second-Line_0815\nthird';
const trigger = { projectSlug: 'shop', processSlug: 'checkout', database: { password } };

type RawResponse = { status?: number; headers?: Record<string, string>; text: string };

const transportOf = (reply: (endpoint: string) => RawResponse) => ({
  send: async ({ endpoint }: { endpoint: string }) => ({ status: 200, headers: {}, ...reply(endpoint) }),
  close: async () => {},
});

/** Returns all texts of a value, also those of errors in it that are not enumerable. */
function textsIn(value: unknown, seen = new Set<unknown>()): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null || seen.has(value)) return [];
  seen.add(value);
  return Object.getOwnPropertyNames(value).flatMap((name) => [
    name,
    ...textsIn((value as Record<string, unknown>)[name], seen),
  ]);
}

const pieces = [apiKey, ...password.split(/\s+/)].flatMap((secret) =>
  Array.from({ length: Math.max(0, secret.length - 7) }, (_, at) => secret.slice(at, at + 8).toLowerCase()),
);
const leakIn = (given: unknown) => {
  const texts = textsIn(given).map((text) => text.toLowerCase());
  return pieces.find((piece) => texts.some((text) => text.includes(piece)));
};

async function drained(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _ of items);
}

const running = { state: 'in_progress' };
/** The places in which a service may send a secret back: when it creates a run, in reads and in pages. */
const places: Readonly<Record<string, (text: string, endpoint: string) => RawResponse>> = {
  'an error': (text) => ({ status: 400, text: JSON.stringify({ error: text, details: { given: [text] } }) }),
  'a long error': (text) => ({
    status: 500,
    text: JSON.stringify({ error: text, details: text.repeat(60) }),
  }),
  'an error that is text': (text) => ({ status: 429, text, headers: { 'x-request-id': text } }),
  'an error page': (text) => ({ status: 503, text: `<html><title>${text}</title>` }),
  'text instead of JSON': (text) => ({ text: `no JSON: ${text}` }),
  'names of fields': (text) => ({ text: JSON.stringify({ [text]: 1, also: true }) }),
  'a state': (text, endpoint) => ({
    text: JSON.stringify(endpoint === 'run.status' ? { state: text.slice(-200) } : { runId: 'run_1' }),
  }),
  'a count': (text, endpoint) => ({
    text: JSON.stringify(
      endpoint === 'run.status' ? { state: 'completed', failed: text, blocked: 0 } : { runId: 'run_1' },
    ),
  }),
  'an address': (text, endpoint) => ({
    text: JSON.stringify({
      ...(endpoint === 'run.status' ? running : { runId: 'run_1' }),
      appUrl: `https://app.example.com/${encodeURIComponent(text)}`,
    }),
  }),
  'the id of a run': (text) => ({ text: JSON.stringify({ runId: text }), headers: { location: `/${text}` } }),
};

test.each(Object.entries(places))(
  'nothing that the library hands out has eight characters of a secret that came in %s',
  async (_, place) => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(apiKey, password, JSON.stringify(password), encodeURIComponent(password)),
        fc.oneof(fc.integer({ min: 0, max: 260 }), fc.integer({ min: 400, max: 520 })),
        async (secret, before) => {
          const text = `${'-'.repeat(before)}${secret} and more`;
          const handed: unknown[] = [];
          const options = {
            ...{ apiUrl: 'https://service.example.com', apiKey, token: apiKey, clock: fakeClock() },
            transport: transportOf((endpoint) => place(text, endpoint)),
            onExchange: (event: unknown) => void handed.push(event),
          };
          const observed = { ...options, onProgress: (event: unknown) => void handed.push(event) };
          const keep = (call: Promise<unknown>) =>
            call.then(
              (value) => handed.push(value),
              (error) => handed.push(error),
            );
          await keep(gate({ ...observed, trigger, timeoutMs: 60_000 }));
          await keep(
            startRun({ ...observed, trigger, timeoutMs: 60_000 }).then(
              ({ response: _response, runId: _id, ...known }) => known,
            ),
          );
          const client = createClient(options);
          // The results of the client are the responses, unchanged.
          const failure = (call: Promise<unknown>) => keep(call.then(() => undefined));
          const bounded = { timeoutMs: 20_000, maxRequests: 2 };
          await failure(
            client.env.create({ name: 'n', vars: [{ key: 'PASSWORD', value: password }] } as never, bounded),
          );
          // Another call does not know the secrets of this body.
          if (secret === apiKey) {
            await keep(gate({ ...observed, runIds: ['run_1'], timeoutMs: 60_000 }));
            await failure(drained(client.observations.list.all('p1', {}, bounded)));
            await failure(client.orders.listExact(bounded));
          }
          await client.close();
          expect(handed.length).toBeGreaterThan(3);
          expect({ leak: handed.map(leakIn).find((leak) => leak !== undefined) }).toEqual({
            leak: undefined,
          });
        },
      ),
      { numRuns: 12 },
    );
  },
);

test('neither the report of gate() nor its journal contains a key that the service sends back', async () => {
  const transport = transportOf((endpoint) => ({
    text: JSON.stringify({
      ...(endpoint === 'run.trigger' ? { runId: apiKey } : running),
      appUrl: `https://x.test/${apiKey}`,
    }),
  }));
  const folder = mkdtempSync(join(tmpdir(), 'rungate-library-'));
  const env = { GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '7', RUNNER_TEMP: folder };
  try {
    const report = await gate({
      ...{ apiUrl: 'https://service.example.com', apiKey, transport, clock: fakeClock() },
      ...{ trigger: { projectSlug: 'shop', processSlug: 'checkout' }, env, maxAttempts: 2 },
    });
    expect(report.result).toBe('fail');
    expect(JSON.stringify(report)).not.toContain(apiKey);
    const journal = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(journal).toEqual([expect.stringContaining('triggering')]);
    expect(journal.join()).not.toContain(apiKey);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
