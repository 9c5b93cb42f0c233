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
  /** The order's id. */
  id: string;
  /** The customer's display name. */
  customer: string;
  /** The amount in units of `currency`. */
  total: number;
  /** ISO 4217 code. */
  currency: string;
  /** When it was placed, ISO 8601. */
  placedAt: string;
}

/** The list of orders. */
export interface OrderList {
  /** The orders of the account. */
  orders: OrderListItem[];
}

/** The number of orders and their total revenue, over all currencies. */
export interface OrderSummary {
  /** The number of orders. */
  orderCount: number;
  /** The exact sum of the orders' totals. */
  totalRevenue: number;
  /** The sum for people, with a currency symbol. */
  totalRevenueDisplay: string;
}

/** A single order. `total` is a number of `currency` units. */
export interface Order {
  /** The order's id. */
  id: string;
  /** The customer's display name. */
  customer: string;
  /** The amount in units of `currency`. */
  total: number;
  /** ISO 4217 code. */
  currency: string;
}

/** The fields for creating an API key. */
export interface KeyFields {
  /** The key's name. */
  name: string;
  /** Scopes of the key (default: chosen by the service). */
  scopes?:
    | (
        | 'ci:trigger'
        | 'ci:status'
        | 'ci:cancel'
        | 'process:execute'
        | 'quicktest:execute'
        | 'testcase:read'
        | 'testcase:write'
        | 'testcase:execute'
        | 'ticket:read'
        | 'ticket:write'
        | 'ticket:retest'
        | 'execution:read'
        | 'chat:use'
        | 'runner:manage'
        | 'platform:manage'
        | (string & Record<never, never>)
      )[]
    | null
    | undefined;
}

/** A new API key. */
export interface CreatedKey {
  /** The full token, which no later response contains. */
  apiKey: string;
}

/** State and counts of a run. The counts are reliable only once the run has ended: `EndedRunStatus`. `retryAfterSeconds` is the wait before the next status read. */
export interface RunStatus {
  /** The run's state; a state that is not listed is not the end. */
  state: 'in_progress' | 'completed' | 'cancelled' | (string & Record<never, never>);
  /** Number of failed items, reliable once the run has ended. */
  failed?: number | null | undefined;
  /** Number of blocked items, reliable once the run has ended. */
  blocked?: number | null | undefined;
  /** URL of the run's page. */
  appUrl?: string | null | undefined;
  /** Time to wait before the next status read. */
  retryAfterSeconds?: number | null | undefined;
}

/** The fields for cancelling a run. */
export interface CancelFields {
  /** Why the run is cancelled. */
  reason?: string | null | undefined;
}

/** Overrides of the project's defaults; mobile projects only. */
export interface MobileRuntimeOverrides {
  /** Device name. */
  deviceName?: string | null | undefined;
  /** Device UDID. */
  udid?: string | null | undefined;
  /** Android package of the app. */
  androidAppPackage?: string | null | undefined;
  /** Android activity of the app. */
  androidAppActivity?: string | null | undefined;
}

/** An environment. `fieldsOf` returns the fields that the API does not describe, such as the id that the mock sends. */
export interface Environment {
  /** Display name. */
  name?: string | null | undefined;
  /** Key that refers to it in other requests. */
  key?: string | null | undefined;
  /** Base URL of web and API projects. */
  baseUrl?: string | null | undefined;
  /** Model to use. */
  providerModel?: string | null | undefined;
  /** Version of the application under test. */
  version?: string | null | undefined;
  /** Overrides for this environment; mobile projects only. */
  mobileRuntimeOverrides?: MobileRuntimeOverrides | null | undefined;
}

/** The query of `env.list`. Pages count from 1. */
export interface EnvListQuery {
  /** Page number, from 1. */
  page?: number | undefined;
  /** Items per page. */
  pageSize?: number | undefined;
}

/** The fields for creating or changing an environment. */
export interface EnvironmentFields {
  /** Display name. */
  name?: string | null | undefined;
  /** Key that refers to it in other requests. */
  key?: string | null | undefined;
  /** Base URL of web and API projects. */
  baseUrl?: string | null | undefined;
  /** Model to use. */
  providerModel?: string | null | undefined;
  /** Version of the application under test. */
  version?: string | null | undefined;
  /** Overrides for this environment; mobile projects only. */
  mobileRuntimeOverrides?: MobileRuntimeOverrides | null | undefined;
}

/** The query of `env.vars.list`. Pages count from 1. */
export interface EnvVarsListQuery {
  /** Page number, from 1. */
  page?: number | undefined;
  /** Items per page. */
  pageSize?: number | undefined;
}

/** A variable of an environment. The API describes none of its fields. */
export interface Variable {
  [field: string]: unknown;
}

/** The query of `observations.list`. Pages count from 1. */
export interface ObservationsListQuery {
  /** Only observations with this status. */
  status?: string | undefined;
  /** Only observations found in this environment. */
  discoveredInEnvironmentKey?: string | undefined;
  /** Only observations found in this version. */
  discoveredInEnvironmentVersion?: string | undefined;
  /** Only observations found by this process run. */
  processRunId?: string | undefined;
  /** Only observations created by this agent template. */
  createdByAgentTemplateId?: string | undefined;
  /** Only observations created after this time: a date (its midnight in UTC), or RFC 3339 with a zone. */
  createdAfter?: string | undefined;
  /** Page number, from 1. */
  page?: number | undefined;
  /** Items per page. */
  pageSize?: number | undefined;
}

/** An observation. The API describes only the fields for filters. */
export interface Observation {
  /** Its status. */
  status?: string | null | undefined;
  /** Key of the environment in which it was found. */
  discoveredInEnvironmentKey?: string | null | undefined;
  /** Version in which it was found. */
  discoveredInEnvironmentVersion?: string | null | undefined;
  /** The process run that found it. */
  processRunId?: string | null | undefined;
  /** The agent template that created it. */
  createdByAgentTemplateId?: string | null | undefined;
}

/** The query of `observations.search`. Pages count from 1. */
export interface ObservationsSearchQuery {
  /** The text to search for. */
  q?: string | undefined;
  /** Page number, from 1. */
  page?: number | undefined;
  /** Items per page. */
  pageSize?: number | undefined;
}

/** The query of `webhooks.list`. Pages count from 1. */
export interface WebhooksListQuery {
  /** Only webhooks of this project. */
  projectId?: string | undefined;
  /** Include global webhooks. */
  includeGlobal?: boolean | undefined;
  /** Page number, from 1. */
  page?: number | undefined;
  /** Items per page. */
  pageSize?: number | undefined;
}

/** A webhook. The API describes none of its fields. */
export interface Webhook {
  [field: string]: unknown;
}

/** The fields for registering a webhook. The API describes only `projectId`. Give others with `otherFields`: the mock needs a `url`, and accepts `events`. */
export interface WebhookFields {
  /** Project of the webhook (default: all projects). */
  projectId?: string | null | undefined;
}

/** The query of `webhooks.deliveries.list`. Pages count from 1. */
export interface WebhooksDeliveriesListQuery {
  /** Page number, from 1. */
  page?: number | undefined;
  /** Items per page. */
  pageSize?: number | undefined;
}

/** A recorded delivery of a webhook. The API describes none of its fields. */
export interface Delivery {
  [field: string]: unknown;
}
