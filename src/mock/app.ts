import { Hono } from 'hono';
import type { Endpoint } from '../contract/endpoint.ts';
import { api, type EndpointName } from '../contract/index.ts';
import { authenticate } from './auth.ts';
import { readBody } from './body.ts';
import { MockError } from './error.ts';
import type { Exchange } from './exchange.ts';
import type { Handlers, MockReply, MockRequest } from './handler.ts';
import { once, type PlainReply } from './idempotency.ts';
import { describeProblems } from './problems.ts';
import { readQuery } from './query.ts';
import type { State } from './state.ts';

export interface AppEnv {
  Bindings: { exchange: Exchange };
}

/** A handler of whichever endpoint: its types are proven where it is written, and here it is any of 37. */
type AnyHandler = (
  request: Omit<MockRequest<Endpoint>, 'body'> & { readonly body: unknown },
) => MockReply<Endpoint>;

function toResponse(reply: PlainReply): Response {
  if (reply.body === undefined) return new Response(null, { status: reply.status, headers: reply.headers });
  return new Response(JSON.stringify(reply.body), {
    status: reply.status,
    headers: { 'content-type': 'application/json', ...reply.headers },
  });
}

function findEndpoint({ route, method, path }: Exchange): {
  name: EndpointName;
  params: Readonly<Record<string, string>>;
} {
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
      throw new MockError(404, 'Not found', `there is no endpoint at ${path}`);
  }
}

/** The compiler does not see everything: an order summary with one property too many compiles. */
function checkReply(name: EndpointName, endpoint: Endpoint, body: unknown): void {
  const result = endpoint.reply.safeParse(body);
  if (result.success) return;
  const details = `${name}: ${describeProblems('reply', body, result.error.issues)}`;
  throw new MockError(500, 'The mock broke the contract', details);
}

/** Routed, then authenticated, then validated, then handled: whoever may not ask learns nothing of the rest. */
async function answer(exchange: Exchange, state: State, handlers: Handlers): Promise<PlainReply> {
  const { name, params } = findEndpoint(exchange);
  const { headers, bytes } = exchange;
  const endpoint: Endpoint = api[name];
  const auth = authenticate(endpoint.auth, headers, state.credentials);
  const query = readQuery(endpoint, exchange.query);
  const body = await readBody(endpoint, headers['content-type'] ?? '', bytes);

  const handler = handlers[name] as unknown as AnyHandler;
  const handle = (): PlainReply => {
    const reply = handler({ params, query, body, headers, auth, state, clock: state.clock });
    checkReply(name, endpoint, reply.body);
    const status = reply.status ?? (reply.body === undefined ? 204 : 200);
    return { status, body: reply.body, headers: reply.headers ?? {} };
  };
  const key = headers['idempotency-key'];
  return endpoint.keyed && key ? once(state, name, auth, key, bytes, handle) : handle();
}

/** The service itself, as a Hono app without a socket. */
export function createApp(state: State, handlers: Handlers): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.all('*', async (c) => toResponse(await answer(c.env.exchange, state, handlers)));
  app.onError((error) => {
    const known = error instanceof MockError ? error : new MockError(500, 'The mock failed', error.message);
    return toResponse({ status: known.status, body: known.body, headers: known.headers });
  });
  return app;
}
