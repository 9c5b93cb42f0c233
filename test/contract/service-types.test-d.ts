import { expectTypeOf, test } from 'vitest';
import type { EndpointName, ServiceApi } from '../../src/contract/index.ts';

test('the written names of the endpoints are those of the contract', () => {
  expectTypeOf<EndpointName>().toEqualTypeOf<keyof ServiceApi>();
});
