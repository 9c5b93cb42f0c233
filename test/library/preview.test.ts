import { afterEach, beforeEach, expect, it } from 'vitest';
import { type GateEvent, type GateOptions, gate, type Mock, startMock } from '../../src/index.ts';
import { fakeClock, withLimits } from '../fake-clock.ts';
import { serve } from '../transport/serve.ts';

let mock: Mock;
let baseUrl: string;
const clock = fakeClock();
beforeEach(async () => {
  mock = await startMock({ clock, duration: 60_000 });
  baseUrl = (await serve(({ response }) => response.end())).url;
});
afterEach(() => mock.close());

const trigger = { projectSlug: 'shop', processSlug: 'checkout' };
const service = () => ({
  apiUrl: mock.url,
  apiKey: mock.apiKey,
  token: mock.token,
  clock: withLimits(clock),
});
const bodies = (endpoint: string) =>
  mock.requests.filter((request) => request.endpoint === endpoint).map(({ body }) => JSON.parse(body));

it('creates an environment for preview.baseUrl, and names its URL in the receipt', async () => {
  const events: GateEvent[] = [];
  const commitSha = 'a'.repeat(40);
  const result = await gate({
    ...service(),
    trigger: { ...trigger, commitSha },
    preview: { baseUrl: `${baseUrl}/?key=hidden` },
    onProgress: (event) => events.push(event),
  });
  const [{ key, version }] = bodies('env.create');
  expect(result).toMatchObject({
    result: 'pass',
    previews: [{ environmentKey: key, baseUrl, deleted: true }],
  });
  expect([version, bodies('run.trigger')[0].environmentKey]).toEqual([commitSha, key]);
  const steps = events.flatMap((event) => (event.type === 'environment' ? event.step : []));
  expect(steps).toEqual(['creating', 'created', 'deleted']);
  expect(JSON.stringify(await result.receipt())).toContain(`"baseUrl":"${baseUrl}"`);
});

it.each<[string, object, string]>([
  ['without a token', { token: undefined }, 'no bearer token is set'],
  ['for existing runs', { trigger: undefined, runIds: ['run_1'] }, 'preview needs trigger'],
  [
    'with a URL that is not encrypted',
    { preview: { baseUrl: 'http://shop.example' } },
    'uses http, which is not encrypted',
  ],
  [
    'to copy variables of no environment',
    { preview: { baseUrl: 'https://shop.example', copyVariables: true } },
    'no environment is given to copy',
  ],
])('is refused %s, before anything is sent', async (_what, options, message) => {
  const call = { ...service(), trigger, preview: { baseUrl }, ...options };
  await expect(gate(call as GateOptions)).rejects.toThrow(message);
  expect(mock.requests).toEqual([]);
});
