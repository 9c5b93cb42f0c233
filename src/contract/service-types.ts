// Written from the contract by `npm run client`; a test fails while it is stale. Not edited by hand.

/** The endpoints of the service by the one name that each has everywhere (interface, section 4). */
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

/**
 * A list, or one page of it: `items`, in whatever shape and under whatever name they came, and the other fields as they came.
 * Those of the interface, section 2.9, are shown here; `page` counts from 1.
 */
export interface Page<Item> {
  items: Item[];
  totalCount?: number | null | undefined;
  page?: number | null | undefined;
  pageSize?: number | null | undefined;
  totalPages?: number | null | undefined;
  hasNextPage?: boolean | null | undefined;
  hasPreviousPage?: boolean | null | undefined;
  [field: string]: unknown;
}

/** Every list of the client is a `Page`, whatever its shape in the response; this name stays for programs that use it. */
export type List<Item> = Page<Item>;

/** A body that the interface does not show: an object of whatever fields the service takes. */
export interface Fields {
  [field: string]: unknown;
}

/** The content of a file. A `Blob` has a media type; a `File` has a name as well. */
export type FileContent = ArrayBufferView | ArrayBuffer | Blob;

/** A file with the name and the media type to send it under; default those of the file itself. */
export interface FileUpload {
  file: FileContent;
  name?: string | undefined;
  type?: string | undefined;
}

/** The status of a run that has ended: without both counts the client takes no such response (interface, section 2.6). */
export interface EndedRunStatus extends RunStatus {
  state: 'completed' | 'cancelled';
  failed: number;
  blocked: number;
}

/**
 * The status of a run that has not ended. A state that the contract does not list is no end, and comes as such a status;
 * it has no place in the type, or a comparison with `completed` could not tell the two apart.
 */
export interface PendingRunStatus extends RunStatus {
  state: 'in_progress';
}

/** An order of the list (interface, section 2.1). `total` is a number of `currency` units: for showing; add up those of `listExact`. */
export interface OrderListItem {
  id: string;
  customer: string;
  total: number;
  currency: string;
  placedAt: string;
  [field: string]: unknown;
}

/** How many orders there are and what they add up to, whatever their currencies (interface, section 2.3). */
export interface OrderSummary {
  orderCount: number;
  totalRevenue: number;
  totalRevenueDisplay: string;
}

/** A single order (interface, section 2.2). `total` is a number of `currency` units. */
export interface Order {
  id: string;
  customer: string;
  total: number;
  currency: string;
  [field: string]: unknown;
}

/** State and counts of a run (interface, section 2.6). The counts are only there to rely on once the run has ended: `EndedRunStatus`. `retryAfterSeconds` is when to ask again. */
export interface RunStatus {
  state: 'in_progress' | 'completed' | 'cancelled' | (string & Record<never, never>);
  failed?: number | null | undefined;
  blocked?: number | null | undefined;
  appUrl?: string | null | undefined;
  retryAfterSeconds?: number | null | undefined;
  [field: string]: unknown;
}

/** Of mobile projects only: what takes the place of the project's own (interface, section 2.8). */
export interface MobileRuntimeOverrides {
  deviceName?: string | null | undefined;
  udid?: string | null | undefined;
  androidAppPackage?: string | null | undefined;
  androidAppActivity?: string | null | undefined;
  [field: string]: unknown;
}

/** An environment (interface, section 2.8). The service sends other fields, too, which the contract does not show. */
export interface Environment {
  name?: string | null | undefined;
  key?: string | null | undefined;
  baseUrl?: string | null | undefined;
  providerModel?: string | null | undefined;
  version?: string | null | undefined;
  mobileRuntimeOverrides?: MobileRuntimeOverrides | null | undefined;
  [field: string]: unknown;
}

/** What `env.list` can be asked for (interface, section 4.4). Pages count from 1. */
export interface EnvListQuery {
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** What an environment is created or changed with (interface, section 2.8). */
export interface EnvironmentFields {
  name?: string | null | undefined;
  key?: string | null | undefined;
  baseUrl?: string | null | undefined;
  providerModel?: string | null | undefined;
  version?: string | null | undefined;
  mobileRuntimeOverrides?: MobileRuntimeOverrides | null | undefined;
  [field: string]: unknown;
}

/** What `env.vars.list` can be asked for (interface, section 4.4). Pages count from 1. */
export interface EnvVarsListQuery {
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** A variable of an environment. The contract shows none of its fields (interface, section 2.12). */
export interface Variable {
  [field: string]: unknown;
}

/** What `observations.list` can be asked for (interface, section 4.5). Pages count from 1. */
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

/** An observation: of its fields the contract shows those that can be filtered by (interface, section 2.10). */
export interface Observation {
  status?: string | null | undefined;
  discoveredInEnvironmentKey?: string | null | undefined;
  discoveredInEnvironmentVersion?: string | null | undefined;
  processRunId?: string | null | undefined;
  createdByAgentTemplateId?: string | null | undefined;
  [field: string]: unknown;
}

/** What `observations.search` can be asked for (interface, section 4.5). Pages count from 1. */
export interface ObservationsSearchQuery {
  q?: string | undefined;
  page?: number | undefined;
  pageSize?: number | undefined;
  [field: string]: unknown;
}

/** What `webhooks.list` can be asked for (interface, section 4.6). Pages count from 1. */
export interface WebhooksListQuery {
  projectId?: string | undefined;
  includeGlobal?: boolean | undefined;
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** A webhook. The contract shows none of its fields (interface, section 2.12). */
export interface Webhook {
  [field: string]: unknown;
}

/** What `webhooks.deliveries.list` can be asked for (interface, section 4.6). Pages count from 1. */
export interface WebhooksDeliveriesListQuery {
  page?: number | undefined;
  pageSize?: number | undefined;
}

/** A delivery of a webhook, as the service has recorded it. The contract shows none of its fields (interface, section 2.12). */
export interface Delivery {
  [field: string]: unknown;
}
