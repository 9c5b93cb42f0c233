import { afterEach, describe, expect, it } from 'vitest';
import {
  type GateEvent,
  type GateOptions,
  gate,
  type Mock,
  type MockOptions,
  type SharedGateOptions,
  startMock,
} from '../../src/index.ts';
import { type FakeClock, fakeClock } from '../fake-clock.ts';

let mock: Mock;
let clock: FakeClock;
afterEach(() => mock?.close());

const trigger = { projectSlug: 'shop', processSlug: 'checkout' };

async function run(
  options: MockOptions,
  own: Partial<SharedGateOptions & Pick<GateOptions, 'onProgress'>> = {},
) {
  clock = fakeClock();
  mock = await startMock({ clock, duration: 60_000, ...options });
  const deployed = { url: `${mock.url}/_mock/version`, is: 'v2', ...own.deployed };
  return gate({ apiUrl: mock.url, apiKey: mock.apiKey, clock, trigger, ...own, deployed });
}
const paths = () => mock.requests.map(({ path }) => path);

describe('the option deployed', () => {
  it('gates on the deployed build, and reports each read', async () => {
    const events: GateEvent[] = [];
    const report = await run({ deployed: 'v1,v2@2s' }, { onProgress: (event) => events.push(event) });
    expect(report).toMatchObject({ result: 'pass', deployed: { expected: 'v2', matches: true } });
    const reads = events.flatMap((event) => (event.type === 'deployed' ? [event] : []));
    expect(reads).toHaveLength(paths().filter((path) => path.endsWith('/version')).length);
    expect(reads.slice(0, 5).map(({ text, agreed }) => [text, agreed])).toEqual([
      ['v1', false],
      ['v1', false],
      ['v2', false],
      ['v2', false],
      ['v2', true],
    ]);
  });

  it('sends its headers and no credential, and reports none of them', async () => {
    const deployed = { headers: { Authorization: 'Bearer page-secret-1' } };
    const report = await run({ deployed: 'v2' }, { deployed: deployed as never });
    const { headers } = mock.requests[0] ?? {};
    expect(headers).toMatchObject({ authorization: 'Bearer page-secret-1' });
    expect(JSON.stringify(headers)).not.toContain(mock.apiKey);
    expect(JSON.stringify(report)).not.toContain('page-secret');
  });

  it('can be stopped before the run is created', async () => {
    const stop = new AbortController();
    const onProgress = ({ type }: GateEvent) => {
      if (type === 'deployed') stop.abort();
    };
    const report = await run({ deployed: 'v1' }, { signal: stop.signal, onProgress });
    expect(report).toMatchObject({ result: 'fail', interruptedBy: 'abort', runs: [] });
    expect(paths()).toEqual(['/_mock/version']);
  });

  it.each<[string, object, RegExp]>([
    ['an empty text', { is: ' ' }, /the expected build is unknown/],
    ['a URL over http', { url: 'http://shop.example.com/' }, /uses http/],
    ['a header that cannot be set', { headers: { Host: 'a' } }, /deployed\.headers: "Host" cannot be set/],
  ])('is refused with %s, before anything is sent', async (_what, wrong, message) => {
    await expect(run({ deployed: 'v2' }, { deployed: wrong as never })).rejects.toThrow(message);
    expect(mock.requests).toEqual([]);
  });
});
