import { api, type ServiceApi } from '../contract/index.ts';
import { createCaller } from './client.ts';
import type { ClientOptions } from './options.ts';
import { type ExactOptions, type ExactOrder, listExact } from './orders-exact.ts';
import { bindApi, type Tree } from './tree.ts';

/** Every endpoint as a method under its dotted name: `client.run.trigger(body)`. */
export type ServiceClient = Tree<ServiceApi> & {
  /** The list with each total as the decimal text that came over the wire: sums are made of that. */
  readonly orders: { listExact(options?: ExactOptions): Promise<{ orders: ExactOrder[] }> };
  /** Ends calls under way and every connection. */
  close(): Promise<void>;
};

/** The typed client of the whole service. */
export function createClient(options: ClientOptions): ServiceClient {
  const caller = createCaller(options);
  const tree = bindApi(api, caller);
  const orders = { ...tree.orders, listExact: (exact?: ExactOptions) => listExact(caller, exact) };
  return { ...tree, orders, close: () => caller.close() };
}
