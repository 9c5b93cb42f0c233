// Generated from src/contract by `npm run generate`; do not edit. A test fails while it is stale.
import type { CreatedRun, TriggerBody } from '../contract/run.ts';
import type {
  CancelFields,
  CreatedKey,
  Delivery,
  Environment,
  EnvironmentFields,
  EnvListQuery,
  EnvVarsListQuery,
  KeyFields,
  Observation,
  ObservationsListQuery,
  ObservationsSearchQuery,
  Order,
  OrderList,
  OrderSummary,
  Variable,
  Webhook,
  WebhookFields,
  WebhooksDeliveriesListQuery,
  WebhooksListQuery,
} from '../contract/service-types.ts';
import type {
  EndedRunStatus,
  Fields,
  FileContent,
  FileUpload,
  Page,
  PendingRunStatus,
} from '../contract/types.ts';
import type { ExactOptions, ExactOrder } from './exact-orders.ts';
import type { CallOptions } from './options.ts';

/** The method of a list that the service returns page by page. */
export interface PagedMethod<Path extends string[], Query, Item> {
  (
    ...args: [...path: Path, query?: Query | undefined, options?: CallOptions | undefined]
  ): Promise<Page<Item>>;
  /** Every item, page by page, from `query.page` on. The next page is read while one is consumed; leaving the loop stops reading. Timeouts and retries apply to each page. */
  all(...args: Parameters<this>): AsyncIterableIterator<Item>;
}

/**
 * Every endpoint of the service as a method under its dotted name: `client.run.trigger(body)`. The arguments are the
 * path parameters in order, then the body and the query if the endpoint has them, then options. A call is retried if that
 * is safe, and rejects with a RungateError whose `facts` describe the call.
 */
export interface ServiceClient {
  readonly orders: {
    /** List the orders of the account: `GET /api/orders.json`, with a bearer token or an API key. */
    list(options?: CallOptions): Promise<OrderList>;
    /** Show the number of orders and their total revenue: `GET /api/orders/summary.json`, with a bearer token or an API key. */
    summary(options?: CallOptions): Promise<OrderSummary>;
    /** Show one order of the account: `GET /api/orders/{id}.json`, with a bearer token or an API key. */
    get(id: string, options?: CallOptions): Promise<Order>;
    /** The list, with each total as the decimal text from the response, for exact sums. */
    listExact(options?: ExactOptions): Promise<{ orders: ExactOrder[] }>;
  };
  readonly keys: {
    /** Create an API key and show its token once: `POST /api/settings/api-keys`, with a bearer token, never an API key. */
    create(body: KeyFields, options?: CallOptions): Promise<CreatedKey>;
    /** Delete an API key: `DELETE /api/settings/api-keys/{id}`, with a bearer token, never an API key. */
    delete(id: string, options?: CallOptions): Promise<unknown>;
  };
  readonly run: {
    /** Start a test run: `POST /api/ci/runs`, with an API key. */
    trigger(body: TriggerBody, options?: CallOptions): Promise<CreatedRun | undefined>;
    /** Show the state and the counts of a run: `GET /api/ci/runs/{runId}`, with an API key. */
    status(runId: string, options?: CallOptions): Promise<EndedRunStatus | PendingRunStatus>;
    /** Cancel a run: `POST /api/ci/runs/{runId}/cancel`, with an API key. */
    cancel(runId: string, body?: CancelFields, options?: CallOptions): Promise<unknown>;
  };
  readonly env: {
    /** Show an overview of the environments: `GET /api/environments/overview`, with a bearer token. */
    overview(options?: CallOptions): Promise<Page<Environment>>;
    /** List the environments, page by page: `GET /api/environments`, with a bearer token. */
    readonly list: PagedMethod<[], EnvListQuery, Environment>;
    /** Create an environment: `POST /api/environments`, with a bearer token. */
    create(body: EnvironmentFields, options?: CallOptions): Promise<unknown>;
    /** Change fields of an environment: `PUT /api/environments/{id}`, with a bearer token. */
    update(id: string, body: EnvironmentFields, options?: CallOptions): Promise<unknown>;
    /** Delete an environment: `DELETE /api/environments/{id}`, with a bearer token. */
    delete(id: string, options?: CallOptions): Promise<unknown>;
    readonly vars: {
      /** List the variables of an environment: `GET /api/environments/{id}/variables`, with a bearer token. */
      readonly list: PagedMethod<[id: string], EnvVarsListQuery, Variable>;
      /** Create a variable in an environment: `POST /api/environments/{id}/variables`, with a bearer token. */
      create(id: string, body: Fields, options?: CallOptions): Promise<unknown>;
      /** Change a variable of an environment: `PUT /api/environments/{envId}/variables/{varId}`, with a bearer token. */
      update(envId: string, varId: string, body: Fields, options?: CallOptions): Promise<unknown>;
      /** Delete a variable of an environment: `DELETE /api/environments/{envId}/variables/{varId}`, with a bearer token. */
      delete(envId: string, varId: string, options?: CallOptions): Promise<unknown>;
    };
  };
  readonly observations: {
    /** List the observations of a project, page by page: `GET /api/projects/{projectId}/observations`, with a bearer token. */
    readonly list: PagedMethod<[projectId: string], ObservationsListQuery, Observation>;
    /** Show one observation: `GET /api/projects/{projectId}/observations/{observationId}`, with a bearer token. */
    get(projectId: string, observationId: string, options?: CallOptions): Promise<Observation>;
    /** Search prior observations by meaning or text: `GET /api/projects/{projectId}/observations/search`, with a bearer token. */
    readonly search: PagedMethod<[projectId: string], ObservationsSearchQuery, Observation>;
    /** Record an observation: `POST /api/projects/{projectId}/observations`, with a bearer token. */
    create(projectId: string, body: Fields, options?: CallOptions): Promise<unknown>;
    /** Change an observation: `PUT /api/projects/{projectId}/observations/{observationId}`, with a bearer token. */
    update(projectId: string, observationId: string, body: Fields, options?: CallOptions): Promise<unknown>;
    /** Add an attachment to an observation: `POST /api/projects/{projectId}/observations/{observationId}/attachments`, with a bearer token. */
    attach(
      projectId: string,
      observationId: string,
      body: Fields | FileContent | FileUpload,
      options?: CallOptions,
    ): Promise<unknown>;
    /** Confirm an observation: `POST /api/projects/{projectId}/observations/{observationId}/confirm`, with a bearer token. */
    confirm(projectId: string, observationId: string, body?: Fields, options?: CallOptions): Promise<unknown>;
    /** Archive an observation: `POST /api/projects/{projectId}/observations/{observationId}/archive`, with a bearer token. */
    archive(projectId: string, observationId: string, body?: Fields, options?: CallOptions): Promise<unknown>;
    /** Mark an observation as superseded by another: `POST /api/projects/{projectId}/observations/{observationId}/supersede`, with a bearer token. */
    supersede(
      projectId: string,
      observationId: string,
      body?: Fields,
      options?: CallOptions,
    ): Promise<unknown>;
    /** Promote an observation to an issue: `POST /api/projects/{projectId}/observations/{observationId}/promote-to-ticket`, with a bearer token. */
    promoteToTicket(
      projectId: string,
      observationId: string,
      body?: Fields,
      options?: CallOptions,
    ): Promise<unknown>;
    /** Promote an observation to wiki knowledge: `POST /api/projects/{projectId}/observations/{observationId}/promote-to-wiki`, with a bearer token. */
    promoteToWiki(
      projectId: string,
      observationId: string,
      body?: Fields,
      options?: CallOptions,
    ): Promise<unknown>;
  };
  readonly webhooks: {
    /** List the types of events that webhooks can receive: `GET /api/webhooks/event-types`, with a bearer token. */
    eventTypes(options?: CallOptions): Promise<Page<unknown>>;
    /** List webhooks, page by page: `GET /api/webhooks`, with a bearer token. */
    readonly list: PagedMethod<[], WebhooksListQuery, Webhook>;
    /** Register a webhook: `POST /api/webhooks`, with a bearer token. */
    create(body: WebhookFields, options?: CallOptions): Promise<unknown>;
    /** Delete a webhook: `DELETE /api/webhooks/{id}`, with a bearer token. */
    delete(id: string, options?: CallOptions): Promise<unknown>;
    /** Replace a webhook's secret; the old one stops signing: `POST /api/webhooks/{id}/secret/rotate`, with a bearer token. */
    rotateSecret(id: string, body?: Fields, options?: CallOptions): Promise<unknown>;
    /** Send a test delivery to a webhook: `POST /api/webhooks/{id}/test`, with a bearer token. */
    test(id: string, body?: Fields, options?: CallOptions): Promise<unknown>;
    readonly deliveries: {
      /** List the deliveries of a webhook: `GET /api/webhooks/{id}/deliveries`, with a bearer token. */
      readonly list: PagedMethod<[id: string], WebhooksDeliveriesListQuery, Delivery>;
      /** Show one delivery: `GET /api/webhooks/{id}/deliveries/{deliveryId}`, with a bearer token. */
      get(id: string, deliveryId: string, options?: CallOptions): Promise<Delivery>;
      /** Send a recorded delivery again: `POST /api/webhooks/{id}/deliveries/{deliveryId}/retry`, with a bearer token. */
      retry(id: string, deliveryId: string, body?: Fields, options?: CallOptions): Promise<unknown>;
    };
  };
  /** Ends the calls in progress and closes every connection. */
  close(): Promise<void>;
}
