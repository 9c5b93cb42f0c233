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
import { type RateLimiter, unlimited } from './rate-limit.ts';
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

interface ResponseParts {
  /** By default 200, or 204 without a body. */
  status?: number;
  headers?: Record<string, string>;
  /** The body as JSON text, sent instead of it for numbers that a double cannot hold. */
  text?: string;
}

/** The body must fit the API's response; if the API describes none, any body or none. */
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

/** A handler of any endpoint. The compiler checks its types where it is defined. */
type AnyHandler = (
  request: Omit<MockRequest<Endpoint>, 'body'> & { readonly body: unknown },
) => MockResponse<Endpoint>;

function findEndpoint({ route, method, path }: ReceivedRequest) {
  switch (route.kind) {
    case 'endpoint':
      return route;
    case 'method':
      throw new MockError(405, 'Method not allowed', `${path} does not allow ${method}`, {
        allow: route.allow.join(', '),
      });
    case 'malformed':
      throw new MockError(400, 'Malformed path', `${path} has an invalid percent escape`);
    case 'unknown':
      throw new MockError(404, 'Not found', `no endpoint has the path ${path}`);
  }
}

/** Checks a handler's response for what the compiler cannot see, such as an extra property in the order summary. */
function checkedResponse(
  name: EndpointName,
  endpoint: Endpoint,
  response: MockResponse<Endpoint>,
): RawResponse {
  const { body, text = JSON.stringify(body), headers = {} } = response;
  const value = response.text === undefined ? body : JSON.parse(response.text);
  checkValue(
    endpoint.response,
    value,
    'response',
    (problems) => new MockError(500, 'The mock did not respond as its API says', `${name}: ${problems}`),
  );
  if (text === undefined) return textResponse(response.status ?? 204, '', headers);
  return textResponse(response.status ?? 200, text, { 'content-type': 'application/json', ...headers });
}

/** Stores only a success: after a refusal, the corrected request may use the same idempotency key. */
function once(
  { keyedResponses }: State,
  name: EndpointName,
  key: string,
  bytes: Uint8Array,
  handle: () => RawResponse,
): RawResponse {
  const index = JSON.stringify([name, key]);
  const first = keyedResponses.get(index);
  if (first !== undefined && Buffer.compare(first.bytes, bytes) !== 0) {
    throw new MockError(
      422,
      'Idempotency key reused',
      'Idempotency-Key: this key was used with another body; a new request needs a new key',
    );
  }
  const response = first?.response ?? handle();
  keyedResponses.set(index, { bytes, response });
  // The first response has the header too, so that a client need not interpret its absence.
  return {
    ...response,
    headers: { ...response.headers, 'idempotency-replayed': String(first !== undefined) },
  };
}

/** Routes, authenticates, validates and handles a request, in this order: a caller without access learns nothing. */
async function handleRequest(
  exchange: ReceivedRequest,
  state: State,
  handlers: Handlers,
): Promise<RawResponse> {
  const { name, params } = findEndpoint(exchange);
  const { headers, bytes } = exchange;
  const endpoint: Endpoint = api[name];
  const auth = authenticate(endpoint.auth, headers, state.credentials);
  requireScope(name, auth);
  const query = readQuery(endpoint, exchange.query);
  const body = await readCheckedBody(endpoint, headers['content-type'] ?? '', bytes);

  const handler = handlers[name] as unknown as AnyHandler;
  const now = new Date(state.clock.now()).toISOString();
  const request = { params, query, body, account: state.account, state, now };
  const handle = () => checkedResponse(name, endpoint, handler(request));
  const key = headers['idempotency-key'];
  return endpoint.keyed && key ? once(state, name, key, bytes, handle) : handle();
}

/** Responds to any request to the service; never rejects. */
export type Service = (exchange: ReceivedRequest) => Promise<RawResponse>;

export function createService(state: State, handlers: Handlers, limiter: RateLimiter = unlimited): Service {
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
