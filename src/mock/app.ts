import { Hono } from 'hono';
import type { Endpoint } from '../contract/endpoint.ts';
import { api, type EndpointName } from '../contract/index.ts';
import { authenticate, requireScope } from './auth.ts';
import type { Exchange } from './exchange.ts';
import type { Handlers, MockReply, MockRequest } from './handler.ts';
import { once, type PlainReply } from './idempotency.ts';
import { readQuery } from './query.ts';
import { noBudget, type Spend } from './rate-limit.ts';
import { MockError } from './reply.ts';
import type { State } from './state.ts';
import { describeProblems, readBody } from './validate.ts';

export interface AppEnv {
  Bindings: { exchange: Exchange };
}

/** A handler of whichever endpoint: its types are proven where it is written, and here it is any of 37. */
type AnyHandler = (
  request: Omit<MockRequest<Endpoint>, 'body'> & { readonly body: unknown },
) => MockReply<Endpoint>;

function toResponse({ status, text, headers }: PlainReply): Response {
  if (text === undefined) return new Response(null, { status, headers });
  return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });
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
      throw new MockError(404, 'Not found', `there is no endpoint at ${path}; /openapi.json has all`);
  }
}

/** The compiler does not see everything: an order summary with one property too many compiles. */
function checkReply(name: EndpointName, endpoint: Endpoint, body: unknown): void {
  const result = endpoint.reply.safeParse(body);
  if (result.success) return;
  const details = `${name}: ${describeProblems('reply', body, result.error.issues)}`;
  throw new MockError(500, 'The mock broke the contract', details);
}

/** The reply as it is sent, once that was checked. */
function plain(name: EndpointName, endpoint: Endpoint, reply: MockReply<Endpoint>): PlainReply {
  const { body, text = JSON.stringify(body), headers = {} } = reply;
  checkReply(name, endpoint, reply.text === undefined ? body : JSON.parse(reply.text));
  return { status: reply.status ?? (text === undefined ? 204 : 200), text, headers };
}

/** Routed, then authenticated, scope included, then validated, then handled: whoever may not ask learns nothing of the rest. */
async function answer(exchange: Exchange, state: State, handlers: Handlers): Promise<PlainReply> {
  const { name, params } = findEndpoint(exchange);
  const { headers, bytes } = exchange;
  const endpoint: Endpoint = api[name];
  const auth = authenticate(endpoint.auth, headers, state.credentials);
  requireScope(name, auth);
  const query = readQuery(endpoint, exchange.query);
  const body = await readBody(endpoint, headers['content-type'] ?? '', bytes);

  const handler = handlers[name] as unknown as AnyHandler;
  const request = { params, query, body, headers, auth, state, clock: state.clock };
  const handle = () => plain(name, endpoint, handler(request));
  const key = headers['idempotency-key'];
  return endpoint.keyed && key ? once(state, name, auth, key, bytes, handle) : handle();
}

/** The service itself, as a Hono app without a socket. */
export function createApp(state: State, handlers: Handlers, spend: Spend = noBudget): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  app.get('/openapi.json', async (c) => {
    // Needed by few, and large: loaded when it is asked for.
    const { createOpenApi } = await import('../contract/openapi.ts');
    return c.json(createOpenApi({ serverUrl: new URL(c.req.url).origin }));
  });
  app.use('*', async (c, next) => {
    const headers = spend(c.env.exchange);
    await next();
    for (const [name, value] of Object.entries(headers)) c.res.headers.set(name, value);
  });
  app.all('*', async (c) => toResponse(await answer(c.env.exchange, state, handlers)));
  app.onError((error) => {
    const known = error instanceof MockError ? error : new MockError(500, 'The mock failed', error.message);
    return toResponse({ status: known.status, text: JSON.stringify(known.body), headers: known.headers });
  });
  return app;
}
