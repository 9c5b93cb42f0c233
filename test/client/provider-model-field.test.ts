import fc from 'fast-check';
import { afterEach, expect, it } from 'vitest';
import { renameKey } from '../../src/client/caller.ts';
import { createClient } from '../../src/client/create-client.ts';
import { type Mock, startMock } from '../../src/mock/server.ts';

let mock: Mock;
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

it('renames only keys, never text that looks like a key', () => {
  const text = JSON.stringify({ note: '"acmeModel":1', acmeModel: '"acmeModel"', inner: { acmeModel: [] } });
  expect(JSON.parse(renameKey(text, 'acmeModel', 'providerModel'))).toEqual({
    note: '"acmeModel":1',
    providerModel: '"acmeModel"',
    inner: { providerModel: [] },
  });
});

it('does not rename a field if the object has a field with the new name', () => {
  const text = '{"acmeModel":"a","providerModel":"b","in":[{"acmeModel" : 1},{"providerModel":2}]}';
  expect(renameKey(text, 'acmeModel', 'providerModel')).toBe(
    '{"acmeModel":"a","providerModel":"b","in":[{"providerModel" : 1},{"providerModel":2}]}',
  );
});

it('restores the text if the field is renamed back', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom('providerModel', 'x', 'y:'), fc.jsonValue()), (value) => {
      const text = JSON.stringify(value);
      expect(renameKey(renameKey(text, 'providerModel', '$& v"m'), '$& v"m', 'providerModel')).toBe(text);
    }),
  );
});
