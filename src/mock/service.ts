import type {
  Api,
  BodyOutput,
  Endpoint,
  ParamRecord,
  QueryOutput,
  ResponseInput,
} from '../contract/endpoint.ts';
import { api, type EndpointName, type ServiceApi } from '../contract/index.ts';
import { authenticate, requireScope } from './auth.ts';
import type { Account } from './data/account.ts';
import type { ReceivedRequest } from './exchange.ts';
import type { RateLimiter } from './rate-limit.ts';
import { errorResponse, MockError, type RawResponse, textResponse } from './response.ts';
import type { State } from './state.ts';
import { checkValue, readCheckedBody, readQuery } from './validate.ts';

/** A request that was routed, authenticated and validated. */
export interface MockRequest<E extends Endpoint> {
  /** Percent-decoded. */
  readonly params: ParamRecord<E['path']>;
  readonly query: QueryOutput<E>;
  readonly body: BodyOutput<E>;
  readonly account: Account;
  readonly state: State;
  /** When the mock received the request, in ISO 8601. */
  readonly now: string;
}

interface Text {
  /** The body as JSON text, for numbers that a double cannot hold. */
  text: string;
}

/** The status is by default 200, or 204 without a body. The body must fit the API's response; if the API describes none, any body or none. */
export type MockResponse<E extends Endpoint> = { status?: number } & (
  | Text
  | (unknown extends ResponseInput<E> ? { body?: unknown } : { body: ResponseInput<E> })
);

/**
 * Handles one endpoint, or throws a MockError. It is synchronous so that each request changes the state in one
 * step: two requests with one idempotency key can never both run.
 */
export type Handler<E extends Endpoint> = (request: MockRequest<E>) => MockResponse<E>;

/** A handler for each endpoint of an API; a missing one is a compile error. */
export type HandlersOf<A extends Api> = { readonly [Name in keyof A]: Handler<A[Name]> };

export type Handlers = HandlersOf<ServiceApi>;

/** A handler of any endpoint. The compiler checks its types where it is defined. */
type AnyHandler = (
  request: Omit<MockRequest<Endpoint>, 'body'> & { readonly body: unknown },
) => MockResponse<Endpoint>;

/** Checks a handler's response for what the compiler cannot see, such as an extra property in the order summary. */
function checkedResponse(name: EndpointName, { status, ...response }: MockResponse<Endpoint>): RawResponse {
  const text = 'text' in response ? response.text : JSON.stringify(response.body);
  checkValue(
    api[name].response,
    text === undefined ? undefined : JSON.parse(text),
    'response',
    (problems) => new MockError(500, 'The mock did not respond as its API says', `${name}: ${problems}`),
  );
  if (text === undefined) return textResponse(status ?? 204, '');
  return textResponse(status ?? 200, text, { 'content-type': 'application/json' });
}

/** Stores only a success: after a refusal, the corrected request may use the same idempotency key. */
function once(
  { keyedResponses }: State,
  index: string,
  bytes: Uint8Array,
  handle: () => RawResponse,
): RawResponse {
  const first = keyedResponses.get(index);
  if (first !== undefined && Buffer.compare(first.bytes, bytes) !== 0) {
    const details = 'Idempotency-Key: this key was used with another body; a new request needs a new key';
    throw new MockError(422, 'Idempotency key reused', details);
  }
  const response = first?.response ?? handle();
  keyedResponses.set(index, { bytes, response });
  // The first response has the header too, so that a client need not interpret its absence.
  const headers = { ...response.headers, 'idempotency-replayed': String(first !== undefined) };
  return { ...response, headers };
}

/** Authenticates, validates and handles a request, in this order: a caller without access learns nothing. */
async function handleRequest(
  { route, headers, bytes, query: received }: ReceivedRequest,
  state: State,
  handlers: Handlers,
): Promise<RawResponse> {
  if (route instanceof MockError) throw route;
  const { name, params } = route;
  const endpoint: Endpoint = api[name];
  requireScope(name, authenticate(endpoint.auth, headers, state.credentials));
  const query = readQuery(endpoint, received);
  const body = await readCheckedBody(endpoint, headers['content-type'] ?? '', bytes);
  const now = new Date(state.clock.now()).toISOString();
  const request = { params, query, body, account: state.account, state, now };
  const handle = () => checkedResponse(name, (handlers[name] as unknown as AnyHandler)(request));
  const key = headers['idempotency-key'];
  return endpoint.keyed && key ? once(state, JSON.stringify([name, key]), bytes, handle) : handle();
}

/** Responds to any request to the service; never rejects. */
export type Service = (exchange: ReceivedRequest) => Promise<RawResponse>;

export function createService(state: State, handlers: Handlers, limiter: RateLimiter = () => ({})): Service {
  return async (exchange) => {
    try {
      const limits = limiter(exchange);
      const response = await handleRequest(exchange, state, handlers).catch(errorResponse);
      return { ...response, headers: { ...response.headers, ...limits } };
    } catch (error) {
      return errorResponse(error);
    }
  };
}
