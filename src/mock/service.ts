import type { Endpoint } from '../contract/endpoint.ts';
import { api, type EndpointName } from '../contract/index.ts';
import { authenticate, requireScope } from './auth.ts';
import type { Exchange } from './exchange.ts';
import type { Handlers, MockReply, MockRequest } from './handler.ts';
import { type RateLimiter, unlimited } from './rate-limit.ts';
import { errorReply, jsonReply, MockError, type Reply, textReply } from './reply.ts';
import type { State } from './state.ts';
import { check, readBody, readQuery } from './validate.ts';

/** A handler of whichever endpoint: its types are proven where it is written, and here it is any of 37. */
type AnyHandler = (
  request: Omit<MockRequest<Endpoint>, 'body'> & { readonly body: unknown },
) => MockReply<Endpoint>;

function findEndpoint({ route, method, path }: Exchange) {
  switch (route.kind) {
    case 'endpoint':
      return route;
    case 'method':
      throw new MockError(405, 'Method not allowed', `${path} does not take ${method}`, {
        allow: route.allow.join(', '),
      });
    case 'malformed':
      throw new MockError(400, 'Malformed path', `${path} has a percent sign that encodes nothing`);
    case 'unknown':
      throw new MockError(404, 'Not found', `there is no endpoint at ${path}; /openapi.json has all`);
  }
}

/** Checks a handler's reply: the compiler does not see everything, such as a property too many in the order summary. */
function checkedReply(name: EndpointName, endpoint: Endpoint, reply: MockReply<Endpoint>): Reply {
  const { body, text = JSON.stringify(body), headers = {} } = reply;
  const value = reply.text === undefined ? body : JSON.parse(reply.text);
  check(
    endpoint.reply,
    value,
    'reply',
    (problems) => new MockError(500, 'The mock broke the contract', `${name}: ${problems}`),
  );
  if (text === undefined) return textReply(reply.status ?? 204, '', headers);
  return textReply(reply.status ?? 200, text, { 'content-type': 'application/json', ...headers });
}

/**
 * Runs `handle` once per tenant, endpoint and `Idempotency-Key`; afterwards its first reply is replayed.
 * Only success is kept: after a refusal the same key may be used for the corrected request.
 */
function once(
  { keyedReplies }: State,
  name: EndpointName,
  tenant: string,
  key: string,
  bytes: Uint8Array,
  handle: () => Reply,
): Reply {
  const index = JSON.stringify([tenant, name, key]);
  const first = keyedReplies.get(index);
  if (first !== undefined && Buffer.compare(first.bytes, bytes) !== 0) {
    throw new MockError(
      422,
      'Idempotency key reused',
      'Idempotency-Key: this key came before with another body; a new request needs a new key',
    );
  }
  const reply = first?.reply ?? handle();
  keyedReplies.set(index, { bytes, reply });
  // Said of the first reply too, so that a client need not guess from a header that is not there.
  return { ...reply, headers: { ...reply.headers, 'idempotency-replayed': String(first !== undefined) } };
}

/** Routed, then authenticated, scope included, then validated, then handled: whoever may not ask learns nothing of the rest. */
async function answer(exchange: Exchange, state: State, handlers: Handlers): Promise<Reply> {
  const { name, params } = findEndpoint(exchange);
  const { headers, bytes } = exchange;
  const endpoint: Endpoint = api[name];
  const auth = authenticate(endpoint.auth, headers, state.credentials);
  requireScope(name, auth);
  const query = readQuery(endpoint, exchange.query);
  const body = await readBody(endpoint, headers['content-type'] ?? '', bytes);

  const handler = handlers[name] as unknown as AnyHandler;
  const { tenant } = auth;
  const now = new Date(state.clock.now()).toISOString();
  const request = { params, query, body, tenant, account: state.account(tenant), state, now };
  const handle = () => checkedReply(name, endpoint, handler(request));
  const key = headers['idempotency-key'];
  return endpoint.keyed && key ? once(state, name, tenant, key, bytes, handle) : handle();
}

async function openApiReply({ headers: { host } }: Exchange): Promise<Reply> {
  // Needed by few, and large: loaded when it is asked for.
  const { createOpenApi } = await import('../contract/openapi.ts');
  return jsonReply(200, createOpenApi({ serverUrl: new URL(`http://${host}`).origin }));
}

/** Answers any request to the service; never rejects. */
export type Service = (exchange: Exchange) => Promise<Reply>;

/** The service itself, without a socket. */
export function createService(state: State, handlers: Handlers, limiter: RateLimiter = unlimited): Service {
  return async (exchange) => {
    try {
      const isRead = exchange.method === 'GET' || exchange.method === 'HEAD';
      if (exchange.path === '/openapi.json' && isRead) return await openApiReply(exchange);
      const limits = limiter(exchange);
      const reply = await answer(exchange, state, handlers).catch(errorReply);
      return { ...reply, headers: { ...reply.headers, ...limits } };
    } catch (error) {
      return errorReply(error);
    }
  };
}
