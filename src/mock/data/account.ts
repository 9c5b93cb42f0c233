import { makeEnvironments, type StoredEnvironment } from './environments.ts';
import { type ObservationStore, observationSource, observationStore } from './observations.ts';
import { makeOrders, type OwnOrder, type StoredOrder } from './orders.ts';
import { makeWebhooks, type StoredWebhook } from './webhooks.ts';

/** Sizes of the data set. Only observations are created on demand, so there may be millions of them. */
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

/** The names of further items, which are empty. */
export interface AddedNames {
  /** Slugs. */
  projects?: readonly string[] | undefined;
  /** Keys. */
  environments?: readonly string[] | undefined;
}

/** Enough for paging: no list but the webhooks' fits on one page of the default size. */
export const defaultSizes: DataSizes = {
  orders: 137,
  environments: 47,
  observations: 230,
  webhooks: 9,
  deliveries: 14,
};

/** The data of the other tenant, which must stay invisible to the first one. */
const otherSizes: DataSizes = {
  orders: 23,
  environments: 3,
  observations: 12,
  webhooks: 1,
  deliveries: 2,
};

/** The tenant of the mock's API key and bearer token, and another one with its own data. */
export const homeTenant = 'tenant_1';
export const otherTenant = 'tenant_2';

/** Returns the seed of the other tenant, so that its data and credentials differ. */
export const otherSeed = (seed: number) => seed ^ 0x5bd1e995;

/** The data of one tenant, except its runs and keys. Its callers cannot see anything else. */
export interface Account {
  readonly orders: readonly StoredOrder[];
  readonly environments: Map<string, StoredEnvironment>;
  /** By the project's slug, which is its id. */
  readonly projects: ReadonlyMap<string, ObservationStore>;
  readonly webhooks: Map<string, StoredWebhook>;
}

/** The other projects of the mock's tenant with their numbers of observations; one has none. */
const sideProjects: readonly (readonly [slug: string, observations: number])[] = [
  ['shop-mobile', 24],
  ['payments-api', 7],
  ['playground', 0],
];

function fill(
  seed: number,
  sizes: DataSizes,
  projects: readonly (readonly [string, number])[],
  until: number,
  added: AddedNames = {},
) {
  const { orders, environments, webhooks, deliveries } = sizes;
  const storeOf = (slug: string, count: number) =>
    observationStore(observationSource(seed, slug, count, environments, until));
  return {
    orders: makeOrders(seed, orders, until),
    environments: makeEnvironments(seed, environments, until, added.environments),
    projects: new Map(projects.map(([slug, count]) => [slug, storeOf(slug, count)])),
    webhooks: makeWebhooks(seed, webhooks, deliveries, until),
  };
}

/**
 * Creates the data set of a tenant, which ends at `until`. Only two tenants have one; any other starts empty. The names are
 * added to those of the mock's own tenant.
 */
export function createAccount(
  tenant: string,
  seed: number,
  sizes: DataSizes,
  until: number,
  added: AddedNames = {},
): Account {
  if (tenant === homeTenant) {
    // First, so that a project with data stays as it is.
    const empty = (added.projects ?? []).map((slug) => [slug, 0] as const);
    return fill(seed, sizes, [...empty, ['shop', sizes.observations], ...sideProjects], until, added);
  }
  if (tenant === otherTenant) {
    return fill(otherSeed(seed), otherSizes, [['warehouse', otherSizes.observations]], until);
  }
  return { orders: [], environments: new Map(), projects: new Map(), webhooks: new Map() };
}
