import type {
  Api,
  BodyOutput,
  Endpoint,
  ParamRecord,
  QueryOutput,
  ResponseInput,
} from '../contract/endpoint.ts';
import type { ServiceApi } from '../contract/index.ts';
import type { Account } from './data/account.ts';
import type { State } from './state.ts';

/** A request that was routed, authenticated and validated. */
export interface MockRequest<E extends Endpoint> {
  /** Percent-decoded. */
  readonly params: ParamRecord<E['path']>;
  readonly query: QueryOutput<E>;
  readonly body: BodyOutput<E>;
  /** The caller's tenant and its data. */
  readonly tenant: string;
  readonly account: Account;
  readonly state: State;
  /** When the mock received the request, in ISO 8601. */
  readonly now: string;
}

interface ResponseParts {
  /** By default 200, or 204 without a body. */
  status?: number;
  headers?: Record<string, string>;
  /** The body as JSON text, sent instead of it for numbers that a double cannot hold. */
  text?: string;
}

/** The body must fit the contract's response; if the contract shows none, any body or none. */
export type MockResponse<E extends Endpoint> = ResponseParts &
  (unknown extends ResponseInput<E> ? { body?: unknown } : { body: ResponseInput<E> });

/**
 * Handles one endpoint, or throws a MockError. It is synchronous so that each request changes the state in one
 * step: two requests with one idempotency key can never both run.
 */
export type Handler<E extends Endpoint> = (request: MockRequest<E>) => MockResponse<E>;

/** A handler for each endpoint of an API; a missing one is a compile error. */
export type HandlersOf<A extends Api> = { readonly [Name in keyof A]: Handler<A[Name]> };

export type Handlers = HandlersOf<ServiceApi>;
