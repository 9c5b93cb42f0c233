import { isBytes } from '../options.ts';
import { deliver, errorOf, maxBytesOf, notRaw, refusalStatus } from './delivery.ts';
import type { ReceiveOptions } from './public.ts';

export { deliveryOf } from './delivery.ts';
export * from './public.ts';

/** The part of a Fastify request that the receiver uses. */
export interface FastifyRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
}
/** The part of Fastify's reply object that the receiver uses. */
export interface FastifyReply {
  code(status: number): FastifyReply;
  send(): unknown;
}
/** The part of a Fastify instance that the receiver uses. */
export interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(...args: never[]): unknown;
  decorateRequest(...args: never[]): unknown;
  addHook(...args: never[]): unknown;
}

/** The exact signatures, which cannot be public: Fastify's own types differ with its version and plugins. */
interface Scope {
  addContentTypeParser(
    type: string,
    options: { parseAs: 'buffer'; bodyLimit: number },
    parser: (request: unknown, body: Buffer, done: (error: null, body: Buffer) => void) => void,
  ): unknown;
  decorateRequest(name: string, value: null): unknown;
  addHook(
    name: 'preValidation',
    hook: (request: FastifyRequest, reply: FastifyReply, done: (error?: object) => void) => void,
  ): unknown;
}

/** The options of the Fastify receiver. */
export interface FastifyOptions extends Omit<ReceiveOptions, 'onError'> {
  /**
   * Logs and responds instead of the receiver, which would respond with `statusOf(error)`. The handler is not called; an error
   * of `onError` goes to the app.
   */
  onError?: ((error: unknown, request: FastifyRequest, reply: FastifyReply) => unknown) | undefined;
}

const remedy =
  'call webhook(scope, options) in the scope that has the route, and add no content type parser there';

function bodyOf({ body = new Uint8Array() }: FastifyRequest): Uint8Array {
  if (isBytes(body)) return body;
  throw notRaw(remedy);
}

/** Responds to the sender's mistakes with an empty body, and throws all others to the app. */
const respond = (error: unknown, _request: unknown, reply: FastifyReply): unknown =>
  reply.code(refusalStatus(error)).send();

/**
 * Makes every route of a scope accept only deliveries: bodies stay raw, and are verified before validation and handler.
 * Read the delivery with `deliveryOf(request)`. Call `webhook` inside `app.register(async (scope) => …)`, so that the
 * rest of the app keeps its parsers.
 * @example
 * ```ts
 * import { fastify } from 'fastify';
 * import { deliveryOf, webhook } from 'rungate/webhook/fastify';
 *
 * const app = fastify();
 * app.register(async (scope) => {
 *   webhook(scope, { secrets: process.env.HOOK_SECRET });
 *   scope.post('/hook', async (request, reply) => {
 *     console.log(deliveryOf(request).json());
 *     return reply.code(204).send();
 *   });
 * });
 * ```
 */
export function webhook(scope: FastifyScope, options: FastifyOptions): void {
  const bodyLimit = maxBytesOf(options);
  const { onError = respond } = options;
  const typedScope: Scope = scope;
  scope.removeAllContentTypeParsers();
  typedScope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
    done(null, body),
  );
  typedScope.decorateRequest('webhook', null);
  const refuse = async (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    onError(error, request, reply);
  // With a callback, since Fastify would call the handler once a promise resolves and the response is not sent, or the sender
  // has left.
  typedScope.addHook('preValidation', (request, reply, done) => {
    deliver(request.headers, options, () => bodyOf(request))
      .then((webhook) => Object.assign(request, { webhook }))
      .then(
        () => done(),
        (error) => refuse(error, request, reply).catch((failure) => done(errorOf(failure, error))),
      );
  });
}
