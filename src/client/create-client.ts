import { api } from '../contract/index.ts';
import { bindApi } from './api-tree.ts';
import { createCaller } from './caller.ts';
import { type ExactOptions, listExact } from './exact-orders.ts';
import type { ClientOptions } from './options.ts';
import type { ServiceClient } from './service-client.ts';

export type { ServiceClient } from './service-client.ts';

/**
 * The typed client of the whole service (interface, section 4). It opens no connection before the first call, and looks
 * at no environment. A wrong address or a missing credential is told by the call that needs it.
 */
export function createClient(options: ClientOptions): ServiceClient {
  const caller = createCaller(options);
  const tree = bindApi(api, caller);
  const orders = { ...tree.orders, listExact: (exact?: ExactOptions) => listExact(caller, exact) };
  return { ...tree, orders, close: () => caller.close() };
}
