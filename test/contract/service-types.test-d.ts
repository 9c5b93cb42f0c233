import { expectTypeOf, test } from 'vitest';
import type { EndpointName, ServiceApi } from '../../src/contract/index.ts';

test('EndpointName has exactly the names of the API', () => {
  expectTypeOf<EndpointName>().toEqualTypeOf<keyof ServiceApi>();
});
