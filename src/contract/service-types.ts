// Generated from src/contract by `npm run generate`; do not edit. A test fails while it is stale.

/** The names of the endpoints. */
export type EndpointName =
  | 'orders.list'
  | 'orders.summary'
  | 'orders.get'
  | 'keys.create'
  | 'keys.delete'
  | 'run.trigger'
  | 'run.status'
  | 'run.cancel'
  | 'env.overview'
  | 'env.list'
  | 'env.create'
  | 'env.update'
  | 'env.delete'
  | 'env.vars.list'
  | 'env.vars.create'
  | 'env.vars.update'
  | 'env.vars.delete'
  | 'observations.list'
  | 'observations.get'
  | 'observations.search'
  | 'observations.create'
  | 'observations.update'
  | 'observations.attach'
  | 'observations.confirm'
  | 'observations.archive'
  | 'observations.supersede'
  | 'observations.promoteToTicket'
  | 'observations.promoteToWiki'
  | 'webhooks.eventTypes'
  | 'webhooks.list'
  | 'webhooks.create'
  | 'webhooks.delete'
  | 'webhooks.rotateSecret'
  | 'webhooks.test'
  | 'webhooks.deliveries.list'
  | 'webhooks.deliveries.get'
  | 'webhooks.deliveries.retry';

/** An order of the list. `total` is a number of `currency` units for display; for sums use `listExact`. */
export interface OrderListItem {
  id: string;
  customer: string;
  total: number;
  currency: string;
  placedAt: string;
  [field: string]: unknown;
}

/** The number of orders and their total revenue, over all currencies. */
export interface OrderSummary {
  orderCount: number;
  totalRevenue: number;
  totalRevenueDisplay: string;
}

/** A single order. `total` is a number of `currency` units. */
export interface Order {
  id: string;
  customer: string;
  total: number;
  currency: string;
  [field: string]: unknown;
}

/** State and counts of a run. The counts are reliable only once the run has ended: `EndedRunStatus`. `retryAfterSeconds` is the wait before the next status read. */
export interface RunStatus {
  state: 'in_progress' | 'completed' | 'cancelled' | (string & Record<never, never>);
  failed?: number | null | undefined;
  blocked?: number | null | undefined;
  appUrl?: string | null | undefined;
  retryAfterSeconds?: number | null | undefined;
  [field: string]: unknown;
}

/** Overrides of the project's defaults; mobile projects only. */
export interface MobileRuntimeOverrides {
  deviceName?: string | null | undefined;
  udid?: string | null | undefined;
  androidAppPackage?: string | null | undefined;
  androidAppActivity?: string | null | undefined;
  [field: string]: unknown;
}

/** An environment. The service also sends fields that its API does not describe. */
export interface Environment {
  name?: string | null | undefined;
  key?: string | null | undefined;
  baseUrl?: string | null | undefined;
  providerModel?: string | null | undefined;
  version?: string | null | undefined;
  mobileRuntimeOverrides?: MobileRuntimeOverrides | null | undefined;
  [field: string]: unknown;
}

/** The query of `env.list`. Pages count from 1. */
export interface EnvListQuery {
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** The fields for creating or changing an environment. */
export interface EnvironmentFields {
  name?: string | null | undefined;
  key?: string | null | undefined;
  baseUrl?: string | null | undefined;
  providerModel?: string | null | undefined;
  version?: string | null | undefined;
  mobileRuntimeOverrides?: MobileRuntimeOverrides | null | undefined;
  [field: string]: unknown;
}

/** The query of `env.vars.list`. Pages count from 1. */
export interface EnvVarsListQuery {
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** A variable of an environment. The API describes none of its fields. */
export interface Variable {
  [field: string]: unknown;
}

/** The query of `observations.list`. Pages count from 1. */
export interface ObservationsListQuery {
  status?: string | undefined;
  discoveredInEnvironmentKey?: string | undefined;
  discoveredInEnvironmentVersion?: string | undefined;
  processRunId?: string | undefined;
  createdByAgentTemplateId?: string | undefined;
  createdAfter?: string | undefined;
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** An observation. The API describes only the fields for filters. */
export interface Observation {
  status?: string | null | undefined;
  discoveredInEnvironmentKey?: string | null | undefined;
  discoveredInEnvironmentVersion?: string | null | undefined;
  processRunId?: string | null | undefined;
  createdByAgentTemplateId?: string | null | undefined;
  [field: string]: unknown;
}

/** The query of `observations.search`. Pages count from 1. */
export interface ObservationsSearchQuery {
  q?: string | undefined;
  page?: number | undefined;
  pageSize?: number | undefined;
  [field: string]: unknown;
}

/** The query of `webhooks.list`. Pages count from 1. */
export interface WebhooksListQuery {
  projectId?: string | undefined;
  includeGlobal?: boolean | undefined;
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** A webhook. The API describes none of its fields. */
export interface Webhook {
  [field: string]: unknown;
}

/** The query of `webhooks.deliveries.list`. Pages count from 1. */
export interface WebhooksDeliveriesListQuery {
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** A recorded delivery of a webhook. The API describes none of its fields. */
export interface Delivery {
  [field: string]: unknown;
}
