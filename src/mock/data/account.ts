import { type Environment, makeEnvironments } from './environments.ts';
import { type ObservationStore, observationStore } from './observation-store.ts';
import { observationSource } from './observations.ts';
import { makeOrders, type Order, type OwnOrder } from './orders.ts';
import { makeWebhooks, type Webhook } from './webhooks.ts';

/** How much there is of everything. Only observations are made on demand, so there may be millions of them. */
export interface DataSizes {
  /** How many, or the very orders. */
  orders: number | readonly OwnOrder[];
  environments: number;
  /** In the project `shop`; the other projects have what they have. */
  observations: number;
  webhooks: number;
  /** Of each webhook. */
  deliveries: number;
}

/** Enough to page through: no list fits one page of the default size, but that of the webhooks. */
export const usualSizes: DataSizes = {
  orders: 137,
  environments: 47,
  observations: 230,
  webhooks: 9,
  deliveries: 14,
};

/** What the tenant has that is nobody's credential: there for others not to see. */
export const otherSizes: DataSizes = {
  orders: 23,
  environments: 3,
  observations: 12,
  webhooks: 1,
  deliveries: 2,
};

/** The tenant that the mock's own key and token belong to, and one that has things of its own. */
export const homeTenant = 'tenant_1';
export const otherTenant = 'tenant_2';

/** The seed of the other tenant: what it has is its own, its credentials included. */
export const otherSeed = (seed: number) => seed ^ 0x5bd1e995;

/** Everything that one tenant has but runs and keys. What is not in it is not there for its callers. */
export interface Account {
  readonly orders: readonly Order[];
  readonly environments: Map<string, Environment>;
  /** By the project's slug, which is its id. */
  readonly projects: ReadonlyMap<string, ObservationStore>;
  readonly webhooks: Map<string, Webhook>;
}

/** The other projects of the mock's tenant, and how many observations they have: one of them has none. */
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
) {
  const { orders, environments, webhooks, deliveries } = sizes;
  const storeOf = (slug: string, count: number) =>
    observationStore(observationSource(seed, slug, count, environments, until));
  return {
    orders: makeOrders(seed, orders, until),
    environments: makeEnvironments(seed, environments, until),
    projects: new Map(projects.map(([slug, count]) => [slug, storeOf(slug, count)])),
    webhooks: makeWebhooks(seed, webhooks, deliveries, until),
  };
}

/** The data set of a tenant. Only two have one; any other starts with nothing. `until` is when it was made. */
export function createAccount(tenant: string, seed: number, sizes: DataSizes, until: number): Account {
  if (tenant === homeTenant) {
    return fill(seed, sizes, [['shop', sizes.observations], ...sideProjects], until);
  }
  if (tenant === otherTenant) {
    return fill(otherSeed(seed), otherSizes, [['warehouse', otherSizes.observations]], until);
  }
  return { orders: [], environments: new Map(), projects: new Map(), webhooks: new Map() };
}
