import { expectTypeOf, test } from 'vitest';
import { createClient, type ServiceClient } from '../../src/client/create-client.ts';

declare const client: ServiceClient;

test('the client is a tree of the contract', () => {
  expectTypeOf(createClient).returns.toEqualTypeOf<ServiceClient>();
  expectTypeOf(client.run.status).returns.resolves.toHaveProperty('state');
  expectTypeOf(client.orders.get('o')).resolves.toHaveProperty('total').toEqualTypeOf<number>();
  expectTypeOf(client.keys.create({ name: 'n' }))
    .resolves.toHaveProperty('apiKey')
    .toEqualTypeOf<string>();
  expectTypeOf(client.env.list()).resolves.toHaveProperty('hasNextPage').toEqualTypeOf<boolean>();
  expectTypeOf(client.run.cancel('r')).resolves.toBeUnknown();
  expectTypeOf(client.close).toEqualTypeOf<() => Promise<void>>();
});

test('what a call takes compiles', () => {
  void client.run.trigger({ projectSlug: 'p', processSlug: 'c' }, { idempotencyKey: 'k' });
  void client.run.trigger({ projectSlug: 'p', tags: ['a'] });
  void client.run.cancel('r', { reason: 'no' }, { attempts: 1 });
  void client.env.vars.update('e', 'v', { any: 'field' }, { timeoutMs: 1000 });
  void client.env.list({ page: 1, pageSize: 50 });
  void client.env.list(undefined, { attempts: 1 });
  void client.webhooks.deliveries.retry('w', 'd');
  void client.observations.search('p', { q: 'text', vendor: 'x' });
});

test('a missing path parameter does not compile', () => {
  // @ts-expect-error
  void client.run.status();
  // @ts-expect-error
  void client.env.vars.update('e', { any: 'field' });
  // @ts-expect-error
  void client.webhooks.deliveries.get('w');
});

test('a path parameter of another type does not compile', () => {
  // @ts-expect-error
  void client.run.status(7);
});

test('an unknown query key, or one of another type, does not compile', () => {
  // @ts-expect-error
  void client.env.list({ pag: 1 });
  // @ts-expect-error
  void client.env.list({ page: '1' });
  // @ts-expect-error
  void client.webhooks.list({ includeGlobal: 'yes' });
});

test('a body that does not fit does not compile', () => {
  // @ts-expect-error
  void client.run.trigger();
  // @ts-expect-error
  void client.run.trigger({ projectSlug: 'p' });
  // @ts-expect-error
  void client.run.trigger({ projectSlug: 'p', processSlug: 'c', tags: ['a'] });
  // @ts-expect-error
  void client.run.trigger({ projectSlug: 'p', tags: [] });
  // @ts-expect-error
  void client.run.cancel('r', { because: 'no' });
});

test('a call that the contract does not have does not compile', () => {
  // @ts-expect-error
  void client.run.list();
  // @ts-expect-error
  void client.runs;
  // @ts-expect-error
  void client.run.status('r', { retries: 3 });
});
