import { afterEach, expect, test } from 'vitest';
import { gate } from '../../src/index.ts';
import { fakeClock } from '../fake-clock.ts';

const names = ['failed', 'blocked'];
afterEach(() => {
  for (const name of names) Reflect.deleteProperty(Object.prototype, name);
});

test('counts that a status does not have are not taken from Object.prototype', async () => {
  const transport = {
    send: async () => ({ status: 200, headers: {}, text: '{"state":"completed"}' }),
    close: async () => {},
  };
  for (const name of names) Object.defineProperty(Object.prototype, name, { value: 0, configurable: true });
  const service = { apiUrl: 'https://service.example.com', apiKey: 'key', transport, clock: fakeClock() };
  const report = await gate({ ...service, runIds: ['r-1'] });
  expect(report).toMatchObject({ result: 'fail', runs: [{ verdict: 'unobserved' }] });
});
