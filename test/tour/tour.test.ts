import { afterEach, describe, expect, it } from 'vitest';
import { kebab } from '../../src/commands/endpoints/body-input.ts';
import { api, type EndpointName } from '../../src/contract/index.ts';
import { createClient } from '../../src/index.ts';
import { type MockServer, startMock } from '../../src/mock/server.ts';
import { cli, type Result } from '../cli/harness.ts';
import { type Ids, type Step, steps } from './steps.ts';
import { startValidator } from './validator.ts';

let closing: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closing.toReversed()) await close();
  closing = [];
});

/** Starts a mock, and in front of it a third-party validator that reads the OpenAPI document. */
async function setUp() {
  const mock = await startMock({ duration: 60_000 });
  const validator = await startValidator(mock.url);
  closing.push(
    () => mock.close(),
    () => validator.close(),
  );
  const env = { RUNGATE_API_URL: validator.url, RUNGATE_API_KEY: mock.apiKey, RUNGATE_TOKEN: mock.token };
  return { mock, validator, env };
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

function command(name: EndpointName): string[] {
  return name.split('.').map(kebab);
}

it('the tour calls every endpoint', () => {
  expect([...new Set(steps.map((step) => step.name))].sort()).toEqual(Object.keys(api).sort());
});

describe('a tour of all endpoints', () => {
  it('works through the library', async () => {
    const { mock, validator } = await setUp();
    const client = createClient({ apiUrl: validator.url, apiKey: mock.apiKey, token: mock.token });
    closing.push(() => client.close());
    const ids: Ids = {};
    for (const step of steps) {
      const response = await step.library(client, ids);
      checkWire(mock, step, ids);
      step.keep?.(response as never, ids);
    }
    expect(validator.violations).toEqual([]);
    expect(validator.seen.size).toBe(Object.keys(api).length);
  });

  async function byCommand(format: string, check: (step: Step, result: Result, mock: MockServer) => void) {
    const { mock, validator, env } = await setUp();
    const ids: Ids = {};
    for (const step of steps) {
      const result = await cli([...command(step.name), ...step.argv(ids), '--format', format], { env });
      expect(result, `${step.name}: ${result.err}`).toMatchObject({ code: 0 });
      checkWire(mock, step, ids);
      check(step, result, mock);
      const record = mock.requests.at(-1);
      expect(record?.status).toBeLessThan(300);
      // The ids come from the response, since a table may shorten them.
      if (step.keep !== undefined) step.keep(lastResponse(validator.responses) as never, ids);
    }
    expect(validator.violations).toEqual([]);
    expect(validator.seen.size).toBe(Object.keys(api).length);
  }

  it('works through the command line with JSON output', () =>
    byCommand('json', (step, { out }) => {
      const endpoint = api[step.name];
      if (out === '') expect(['DELETE', 'POST', 'PUT']).toContain(endpoint.method);
      else expect(typeof JSON.parse(out)).toBe('object');
      expect(out).not.toContain('#');
    }));

  it('works through the command line with tables', () =>
    byCommand('table', (_step, { out }) => {
      // Cells break only at spaces, so a line is too wide only if it contains a long word, which is JSON here.
      for (const line of out.split('\n')) {
        const json = / (\S*"\S*)$/.exec(line)?.[1] ?? '';
        expect(json.length > 40 ? line.length - json.length : line.length).toBeLessThanOrEqual(80);
      }
      expect(out).not.toMatch(/undefined|\[object Object\]/);
    }));
});

function lastResponse(responses: readonly string[]): unknown {
  return JSON.parse(responses.at(-1) ?? 'null');
}
