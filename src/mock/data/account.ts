import { byId } from '../random.ts';
import { makeEnvironments, type StoredEnvironment } from './environments.ts';
import { makeObservations, type StoredObservation } from './observations.ts';
import { makeOrders, type OwnOrder, type StoredOrder } from './orders.ts';
import { makeWebhooks, type StoredWebhook } from './webhooks.ts';

/** Sizes of the data set. */
export interface DataSizes {
  /** A number of orders, or the orders themselves. */
  orders: number | readonly OwnOrder[];
  environments: number;
  /** In the project `shop`; the sizes of the other projects are fixed. */
  observations: number;
  webhooks: number;
  /** Per webhook. */
  deliveries: number;
}

/** Enough for paging: no list but the webhooks' fits on one page of the default size. */
const defaultSizes: DataSizes = {
  orders: 137,
  environments: 47,
  observations: 230,
  webhooks: 9,
  deliveries: 14,
};

/** The data of the mock's account, except its runs and keys. */
export interface Account {
  readonly orders: readonly StoredOrder[];
  /** By id, oldest first. */
  readonly environments: Map<string, StoredEnvironment>;
  /** The observations by project, which has its slug as id. */
  readonly projects: ReadonlyMap<string, Map<string, StoredObservation>>;
  readonly webhooks: Map<string, StoredWebhook>;
}

/** The projects besides `shop`, with their numbers of observations. */
const sideProjects: readonly (readonly [slug: string, observations: number])[] = [
  ['shop-mobile', 24],
  ['payments-api', 7],
  ['playground', 0],
];

/** Creates the data set, which ends at `until`. */
export function createAccount(seed: number, wanted: Partial<DataSizes> | undefined, until: number): Account {
  const sizes = { ...defaultSizes, ...wanted };
  const environments = makeEnvironments(seed, sizes.environments, until);
  const projects = [['shop', sizes.observations] as const, ...sideProjects].map(
    ([slug, count]) => [slug, byId(makeObservations(seed, slug, count, environments, until))] as const,
  );
  return {
    orders: makeOrders(seed, sizes.orders, until),
    environments: byId(environments),
    projects: new Map(projects),
    webhooks: byId(makeWebhooks(seed, sizes.webhooks, sizes.deliveries, until)),
  };
}
