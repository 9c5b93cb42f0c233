import { afterEach, expect, it } from 'vitest';
import { createClient } from '../../src/client/create-client.ts';
import { type MockServer, startMock } from '../../src/mock/server.ts';

let mock: MockServer;
afterEach(() => mock?.close());

it('sends and reads the model under the vendor’s name, and returns it as providerModel', async () => {
  mock = await startMock();
  const client = createClient({ apiUrl: mock.url, token: mock.token, providerModelField: 'acmeModel' });
  const item = { key: 'qa', acmeModel: 'large' };
  mock.faults.add({ kind: 'reply', text: JSON.stringify(item), endpoint: 'env.create' });
  expect(await client.env.create({ key: 'qa', providerModel: 'large' })).toEqual({
    key: 'qa',
    providerModel: 'large',
  });
  expect(JSON.parse(mock.requests.at(-1)?.body ?? '')).toEqual(item);
  mock.faults.add({ kind: 'reply', text: JSON.stringify([item, item]), endpoint: 'env.overview' });
  expect(await client.env.overview()).toMatchObject({
    items: [{ providerModel: 'large' }, { providerModel: 'large' }],
  });
  await client.close();
});
