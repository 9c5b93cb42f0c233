import { expectTypeOf, test } from 'vitest';
import type { EndpointName, ServiceApi } from '../../src/contract/index.ts';
import type { ServiceClient } from '../../src/http/service.ts';
import type { Tree } from '../../src/http/tree.ts';

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
