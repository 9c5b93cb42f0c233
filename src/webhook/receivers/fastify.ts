import { ownOptions } from '../../own-options.ts';
import { verify } from '../node.ts';
import { type Checks, deliver, isBytes, logRefusal, maxBytesOf, notRaw, telling } from './delivery.ts';
import { type Delivery, type ReceiveOptions, statusOf } from './public.ts';

export { deliveryOf } from './delivery.ts';
export * from './public.ts';

/** What is used of a request, a reply and a scope. */
export interface FastifyRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
}
/** What is used of a reply. */
export interface FastifyReply {
  code(status: number): FastifyReply;
  send(): unknown;
}
/** What is used of the instance that the plugin is registered with. */
export interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(...args: never[]): unknown;
  decorateRequest(...args: never[]): unknown;
  addHook(...args: never[]): unknown;
}

/** The same in the words of Fastify, whose own types are of its versions and of the plugins around it. */
interface Scope {
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: unknown, body: Buffer, done: (error: null, body: Buffer) => void) => void,
  ): unknown;
  decorateRequest(name: string, value: null): unknown;
  addHook(
    name: 'preValidation',
    hook: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
  ): unknown;
}

/** What the receiver checks, and what it does with a delivery. */
export interface FastifyOptions extends Omit<ReceiveOptions, 'onError'> {
  /** Logs and answers in place of the receiver; `statusOf(error)` is the status that it answers with. */
  onError?: ((error: unknown, request: FastifyRequest, reply: FastifyReply) => unknown) | undefined;
}

const how =
  'call webhook(scope, options) in the scope that has the route, and add no content type parser there';

/**
 * Verifies a request whose body a content type parser kept as a Buffer: for routes that set up their scope themselves.
 * @throws WebhookVerificationError, or WebhookReceiveError when the body is too large
 */
export async function receive(request: FastifyRequest, options: ReceiveOptions): Promise<Delivery> {
  return telling(options, () => read(request, options));
}

async function read(request: FastifyRequest, options: Checks): Promise<Delivery> {
  const { body } = request;
  if (body !== undefined && !isBytes(body)) throw notRaw(how);
  return deliver(verify, request.headers, body ?? new Uint8Array(), options);
}

/** All are logged. The sender's mistakes are answered without a word, ours go to the error handling of the app. */
function answer(error: unknown, _request: unknown, reply: FastifyReply): unknown {
  logRefusal(error);
  const status = statusOf(error);
  if (status >= 500) throw error;
  return reply.code(status).send();
}

/**
 * Makes every route of a scope one that takes deliveries alone: bodies stay raw, and are verified before validation and
 * handler. `deliveryOf(request)` has the delivery. Call it inside `app.register(async (scope) => …)`, so that the rest
 * of the app keeps its parsers.
 */
export function webhook(scope: FastifyScope, options: FastifyOptions): void {
  const bodyLimit = maxBytesOf(options);
  const { onError = answer } = ownOptions(options, ['onError']);
  const own: Scope = scope;
  scope.removeAllContentTypeParsers();
  own.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) => done(null, body));
  own.decorateRequest('webhook', null);
  own.addHook('preValidation', async (request, reply) => {
    try {
      Object.assign(request, { webhook: await read(request, options) });
    } catch (error) {
      return onError(error, request, reply);
    }
  });
}
