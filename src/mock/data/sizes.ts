import type { OwnOrder } from './orders.ts';

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
