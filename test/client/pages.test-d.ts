import { expectTypeOf, test } from 'vitest';
import type { ServiceClient } from '../../src/client/create-client.ts';

declare const client: ServiceClient;

test('a paged list has an iterator over its items', async () => {
  for await (const environment of client.env.list.all({ pageSize: 50 })) {
    expectTypeOf(environment.name).toEqualTypeOf<string | null | undefined>();
  }
  for await (const observation of client.observations.list.all('p', { status: 'open' }, { maxRequests: 1 })) {
    expectTypeOf(observation.processRunId).toEqualTypeOf<string | null | undefined>();
  }
  for await (const webhook of client.webhooks.list.all()) expectTypeOf(webhook).toBeObject();
  for await (const variable of client.env.vars.list.all('e', { pageSize: 50 }))
    expectTypeOf(variable).toBeObject();
  for await (const found of client.observations.search.all('p', { q: 'login' }))
    expectTypeOf(found.status).toEqualTypeOf<string | null | undefined>();
});

test('the iterator takes the arguments of the method', () => {
  expectTypeOf(client.env.list.all).parameters.toEqualTypeOf<Parameters<typeof client.env.list>>();
  // @ts-expect-error
  void client.observations.list.all();
  // @ts-expect-error
  void client.env.list.all({ pagesize: 50 });
  // @ts-expect-error
  void client.env.list.all({ page: '1' });
});

test('an endpoint without pages has no iterator', () => {
  // @ts-expect-error
  void client.run.status.all;
  // @ts-expect-error
  void client.env.create.all;
  // @ts-expect-error
  void client.env.overview.all;
  // @ts-expect-error
  void client.orders.list.all;
  // @ts-expect-error
  void client.close.all;
});
