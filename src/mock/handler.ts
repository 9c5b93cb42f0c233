import type {
  Api,
  BodyOutput,
  Endpoint,
  ParamRecord,
  QueryOutput,
  ReplyInput,
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
  /** The caller's tenant, and what it has. */
  readonly tenant: string;
  readonly account: Account;
  readonly state: State;
  /** When the request came, as text. */
  readonly now: string;
}

interface ReplyParts {
  /** 200 where it is left out, or 204 where there is no body either. */
  status?: number;
  headers?: Record<string, string>;
  /** The body as JSON text, sent in its place where it has digits that a double cannot hold. */
  text?: string;
}

/** The body must fit the contract's reply; where the contract does not show one, anything or nothing. */
export type MockReply<E extends Endpoint> = ReplyParts &
  (unknown extends ReplyInput<E> ? { body?: unknown } : { body: ReplyInput<E> });

/**
 * Answers one endpoint, or throws a MockError. It is synchronous on purpose: what it does to the state is one
 * step, so two requests with one idempotency key can never both run.
 */
export type Handler<E extends Endpoint> = (request: MockRequest<E>) => MockReply<E>;

/** A handler for each of some endpoints: a missing one does not compile. */
export type HandlersOf<A extends Api> = { readonly [Name in keyof A]: Handler<A[Name]> };

/** A handler for each of the 37. */
export type Handlers = HandlersOf<ServiceApi>;
