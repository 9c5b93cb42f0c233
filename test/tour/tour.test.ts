import { afterEach, describe, expect, it } from 'vitest';
import { kebab } from '../../src/commands/endpoints/body-input.ts';
import { api } from '../../src/contract/index.ts';
import { createClient } from '../../src/index.ts';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { cli } from '../cli/harness.ts';
import { type Ids, type Step, steps } from './steps.ts';

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

async function setUp() {
  const mock = await startMock({ duration: 60_000 });
  closing.push(() => mock.close());
  const env = { RUNGATE_API_URL: mock.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
  return { mock, env };
}

/** Checks the request of a step as the mock received it. */
function checkWire(mock: MockServer, step: Step, ids: Ids): void {
  const request = mock.requests.at(-1);
  const endpoint = api[step.name];
  const { params = {}, query = {}, body } = step.wire(ids);
  const path = endpoint.path.replace(/\{([^}]+)\}/g, (_, name: string) =>
    encodeURIComponent(params[name] ?? '?'),
  );
  expect(request).toMatchObject({ endpoint: step.name, method: endpoint.method, path });
  const sent = Object.fromEntries(
    Object.entries(request?.query ?? {}).map(([name, value]) => [name, String(value)]),
  );
  expect(sent).toEqual(query);
  if (body === undefined) expect(request?.body).toBe('');
  else expect(JSON.parse(request?.body ?? '')).toEqual(body);
  const { authorization, 'x-api-key': key } = request?.headers ?? {};
  const expected = endpoint.auth === 'key' ? [undefined, mock.apiKey] : [`Bearer ${mock.token}`, undefined];
  expect([authorization, key]).toEqual(expected);
}

it('the tour calls every endpoint', () => {
  expect([...new Set(steps.map((step) => step.name))].sort()).toEqual(Object.keys(api).sort());
});

describe('a tour of all endpoints', () => {
  it('works through the library', async () => {
    const { mock } = await setUp();
    const client = createClient({ apiUrl: mock.url, apiKey: mock.apiKey, token: mock.token });
    closing.push(() => client.close());
    const ids: Ids = {};
    for (const step of steps) {
      const response = await step.library(client, ids);
      checkWire(mock, step, ids);
      step.keep?.(response as never, ids);
    }
  });

  it('works through the command line', async () => {
    const { mock, env } = await setUp();
    const ids: Ids = {};
    for (const step of steps) {
      const argv = [...step.name.split('.').map(kebab), ...step.argv(ids), '--json'];
      const { code, out, err } = await cli(argv, { env });
      expect(code, `${step.name}: ${err}`).toBe(0);
      checkWire(mock, step, ids);
      if (out === '') expect(['DELETE', 'POST', 'PUT']).toContain(api[step.name].method);
      const response = out === '' ? null : JSON.parse(out);
      step.keep?.(response as never, ids);
    }
  });
});
