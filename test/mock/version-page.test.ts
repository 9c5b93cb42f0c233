import { afterEach, describe, expect, it } from 'vitest';
import { type MockOptions, type MockServer, startMock } from '../../src/mock/server.ts';
import { parseDeployed } from '../../src/mock/version-page.ts';
import { fakeClock } from '../fake-clock.ts';

let mock: MockServer;
afterEach(() => mock?.close());
const clock = fakeClock();

async function start(options: MockOptions) {
  mock = await startMock({ clock, ...options });
  return (path = '/_mock/version', init: RequestInit = {}) => fetch(mock.url + path, init);
}

describe('the version page', () => {
  it('changes at the times that the option names', async () => {
    const get = await start({ deployed: 'a,b@2,c@1m' });
    const seen = [];
    for (const ms of [0, 1999, 1, 57_999, 1]) {
      clock.advance(ms);
      seen.push(await (await get()).text());
    }
    expect(seen).toEqual(['a\n', 'a\n', 'b\n', 'b\n', 'c\n']);
  });

  it('shows what deploy() sets, from then on', async () => {
    const get = await start({});
    expect((await get()).status).toBe(404);
    clock.advance(10_000);
    mock.deploy('a,b@5s');
    expect(await (await get()).text()).toBe('a\n');
    clock.advance(5000);
    expect(await (await get()).text()).toBe('b\n');
  });
});

it.each(['', 'a,', ',a', 'a@', 'a@x', '@5s', 'a//b', 'a,b', 'a@5s,b@5s', 'a@5s,b@4s', 'a,b@0'])(
  'the versions "%s" are refused with an example',
  (text) => {
    expect(() => parseDeployed(text)).toThrow(/--deployed/);
  },
);
