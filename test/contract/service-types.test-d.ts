import { expectTypeOf, test } from 'vitest';
import type { Tree } from '../../src/client/api-tree.ts';
import type { ServiceClient } from '../../src/client/create-client.ts';
import type { EndpointName, ServiceApi } from '../../src/contract/index.ts';

type Derived = Tree<ServiceApi>;
/** What is there by hand. */
type Written = Omit<ServiceClient, 'close' | 'orders'> & {
  readonly orders: Omit<ServiceClient['orders'], 'listExact'>;
};

test('the written types of the client are what the compiler derives from the contract', () => {
  expectTypeOf<EndpointName>().toEqualTypeOf<keyof ServiceApi>();
  expectTypeOf<Written>().toExtend<Derived>();
  expectTypeOf<Derived>().toExtend<Written>();
});
