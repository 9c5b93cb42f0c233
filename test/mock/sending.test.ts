import { expect, it } from 'vitest';
import { createClient, otherFields, startMock } from '../../src/index.ts';

it('sends no delivery to another machine by default', async () => {
  const mock = await startMock({ deliveries: 'loopback' });
  const client = createClient({ apiUrl: mock.url, token: mock.token });
  const hook = await client.webhooks.create(otherFields({ url: 'http://192.0.2.1:9/hook' }));
  expect(await client.webhooks.test((hook as { id: string }).id)).toMatchObject({ status: 'not_sent' });
  await client.close();
  await mock.close();
});
