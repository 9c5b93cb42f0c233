import { badOption } from '../error.ts';
import { isBytes } from '../options.ts';
import { deliver, errorOf, keptBody, maxBytesOf, notRaw, refusalStatus } from './delivery.ts';
import type { ReceiveOptions } from './public.ts';

export { deliveryOf } from './delivery.ts';
export * from './public.ts';

/** The part of a Fastify request that the receiver uses. */
export interface FastifyRequest {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: unknown;
  /** The raw body, if a plugin kept it: bytes, or text. */
  readonly rawBody?: unknown;
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
  hasRequestDecorator(name: string): boolean;
  decorateRequest(...args: never[]): unknown;
  addHook(...args: never[]): unknown;
}

/** The options of the nearest `webhook()`; a nested scope inherits them from its parent. */
const mounted = Symbol('rungate webhook');
interface Mounted {
  [mounted]?: FastifyOptions;
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
    hook: (
      this: Mounted | undefined,
      request: FastifyRequest,
      reply: FastifyReply,
      done: (error?: object) => void,
    ) => void,
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

function bodyOf(request: FastifyRequest): Uint8Array {
  const { body } = request;
  const raw = isBytes(body) ? body : keptBody(request);
  if (raw !== undefined) return raw;
  if (body === undefined) return new Uint8Array();
  throw notRaw(remedy);
}

/** Responds to the sender's mistakes with an empty body, and throws all others to the app. */
const respond = (error: unknown, _request: unknown, reply: FastifyReply): unknown =>
  reply.code(refusalStatus(error)).send();

/**
 * Makes every route of a scope accept only deliveries: bodies stay raw, and are verified before validation and handler.
 * Read the delivery with `deliveryOf(request)`. Call `webhook` inside `app.register(async (scope) => …)`, so that the
 * rest of the app keeps its parsers. In a nested scope, a second `webhook` replaces the first one.
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
  if (Object.hasOwn(scope, mounted))
    badOption(
      'webhook() was called twice in the same scope: register a scope for each',
      'register a scope for each',
    );
  Object.assign(scope, { [mounted]: options } satisfies Mounted);
  scope.removeAllContentTypeParsers();
  typedScope.addContentTypeParser('*', { parseAs: 'buffer', bodyLimit }, (_request, body, done) =>
    done(null, body),
  );
  if (!scope.hasRequestDecorator('webhook')) typedScope.decorateRequest('webhook', null);
  const refuse = async (error: unknown, request: FastifyRequest, reply: FastifyReply) =>
    onError(error, request, reply);
  // With a callback, since Fastify would call the handler once a promise resolves and the response is not sent, or the sender
  // has left.
  typedScope.addHook('preValidation', function (request, reply, done) {
    // The hook of a nested scope verifies the delivery with its own options.
    if ((this?.[mounted] ?? options) !== options) return done();
    deliver(request.headers, options, () => bodyOf(request))
      .then((webhook) => Object.assign(request, { webhook }))
      .then(
        () => done(),
        (error) => refuse(error, request, reply).catch((failure) => done(errorOf(failure, error))),
      );
  });
}
