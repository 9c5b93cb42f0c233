import { expectTypeOf, test } from 'vitest';
import type { runIdPlaces } from '../../src/contract/run.ts';
import {
  type CreatedRun,
  type Environment,
  type EnvironmentFields,
  type ExactOrder,
  fieldsOf,
  type Observation,
  type Order,
  type OrderListItem,
  otherFields,
  type Page,
  type RunStatus,
  type ServiceClient,
  type Webhook,
} from '../../src/index.ts';

declare const client: ServiceClient;

test('a response has only the fields that the API describes, so a misspelt one does not compile', () => {
  expectTypeOf<'keyy' extends keyof Environment ? true : false>().toEqualTypeOf<false>();
  expectTypeOf<string extends keyof OrderListItem ? true : false>().toEqualTypeOf<false>();
  expectTypeOf<string extends keyof Order ? true : false>().toEqualTypeOf<false>();
  expectTypeOf<string extends keyof ExactOrder ? true : false>().toEqualTypeOf<false>();
  expectTypeOf<string extends keyof RunStatus ? true : false>().toEqualTypeOf<false>();
  expectTypeOf<string extends keyof Observation ? true : false>().toEqualTypeOf<false>();
  expectTypeOf<string extends keyof Page<Order> ? true : false>().toEqualTypeOf<false>();
  // @ts-expect-error it is called key
  void client.env.list().then(({ items }) => items[0]?.keyy);
  // @ts-expect-error it is called total
  void client.orders.get('o').then((order) => order.totl);
});

test('fieldsOf returns the other fields of a response, as unknown', () => {
  expectTypeOf(fieldsOf({} as Environment).id).toEqualTypeOf<unknown>();
  expectTypeOf(fieldsOf(undefined)).toEqualTypeOf<Readonly<Record<string, unknown>>>();
  // Of these, the API describes no field.
  expectTypeOf<Webhook['url']>().toEqualTypeOf<unknown>();
});

test('a request accepts other fields only from otherFields', () => {
  // @ts-expect-error it is called baseUrl
  void client.env.create({ name: 'n', baseUlr: 'https://shop.example' });
  // @ts-expect-error the API does not describe it
  void client.webhooks.create({ foo: 1 });
  // @ts-expect-error the API does not describe it
  void client.observations.search('p', { foo: 1 });
  // @ts-expect-error a known field has its type
  void client.env.create({ name: 7, ...otherFields({ region: 'eu' }) });
  void client.env.create({ name: 'n', ...otherFields({ region: 'eu' }) });
  void client.webhooks.create(otherFields({ url: 'https://shop.example' }));
  void client.observations.search('p', { q: 'cart', ...otherFields({ limit: 5 }) });
  void client.env.update('e', { ...({} as Environment), baseUrl: null });
  expectTypeOf<Environment>().toExtend<EnvironmentFields>();
});

test('run.trigger returns the fields in which the gate looks for the run', () => {
  expectTypeOf(client.run.trigger).returns.resolves.toEqualTypeOf<CreatedRun | undefined>();
  type Place = (typeof runIdPlaces)[number];
  type At<Value, Path> = Path extends readonly [infer Name extends keyof Value, ...infer Rest]
    ? Rest extends []
      ? Value[Name]
      : At<NonNullable<Value[Name]>, Rest>
    : never;
  expectTypeOf<At<CreatedRun, Place>>().toEqualTypeOf<string | number | null | undefined>();
  expectTypeOf<CreatedRun['appUrl']>().toEqualTypeOf<string | null | undefined>();
});
