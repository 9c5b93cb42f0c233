import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import {
  type AjvCustomizer,
  type Context,
  type Document,
  OpenAPIBackend,
  SetMatchType,
} from 'openapi-backend';
import { createOpenApi } from '../../src/contract/openapi.ts';
import { parseQuery } from '../../src/mock/exchange.ts';

// Why openapi-backend: it routes, takes parameters apart, weighs the alternatives of `security` and checks
// requests, replies and headers without a web framework around it, in 42 packages. express-openapi-validator
// does as much and needs Express (105), prism is a whole server (185), and openapi-request-validator and
// openapi-response-validator leave routing and credentials to us. It stays below 5.21, which needs a library
// that refuses Node 20.
// Two things are set right here: it checks JSON schemas by draft 7, and OpenAPI 3.1 means draft 2020-12, so Ajv
// for that is put in; and of a body's media types it knows only the first, so each has a backend of its own.
// What it passes over and we do not: a body of an undeclared media type, or where none is declared.

/** One message, request or reply, as it went by. */
interface Message {
  headers: IncomingHttpHeaders;
  bytes: Buffer;
}

interface Reply extends Message {
  status: number;
}

export interface Validator {
  /** Stands in for the target's address. */
  url: string;
  /** What went by and the document does not allow, in order; the messages are passed on all the same. */
  violations: string[];
  /** How often each operation was called. */
  seen: Map<string, number>;
  /** The texts of the replies, in order. */
  replies: string[];
  close(): Promise<void>;
}

const json = 'application/json';
const form = 'multipart/form-data';

type Media = Record<string, unknown>;
type Operation = NonNullable<Context['operation']>;

interface Exchange {
  method: string;
  path: string;
  query: Record<string, string | string[]>;
  request: Message;
  reply: Reply;
  operation: Operation | undefined;
}

const mediaType = (message: Message) =>
  (message.headers['content-type'] ?? '').split(';')[0]?.trim().toLowerCase() ?? '';

function ajvs(): AjvCustomizer {
  const made = new Map<boolean, Ajv2020>();
  return (_draft7, options) => {
    const coerces = options?.coerceTypes === true;
    const ajv = made.get(coerces) ?? new Ajv2020({ strict: false, coerceTypes: coerces, allErrors: true });
    if (!made.has(coerces)) addFormats.default(ajv);
    made.set(coerces, ajv);
    return ajv as unknown as ReturnType<AjvCustomizer>;
  };
}

/** The document with only one of the media types a request body may have. */
function narrowed(document: Record<string, unknown>, type: string): Document {
  return JSON.parse(JSON.stringify(document), (key, value) =>
    key === 'requestBody' && value.content[type] !== undefined
      ? { ...value, content: { [type]: value.content[type] } }
      : value,
  ) as Document;
}

const given = (name: string, pattern: RegExp) => (context: Context) =>
  pattern.test(String(context.request.headers[name] ?? ''));

async function createBackend(document: Record<string, unknown>, type: string): Promise<OpenAPIBackend> {
  const backend = new OpenAPIBackend({
    definition: narrowed(document, type),
    quick: true,
    strict: true,
    ignoreTrailingSlashes: false,
    customizeAjv: ajvs(),
    handlers: {
      notFound: () => ['the document has no such path'],
      methodNotAllowed: () => ['the document has no such method of this path'],
      unauthorizedHandler: (context) => [`no credential of ${JSON.stringify(context.operation.security)}`],
      validationFail: (context) => context.validation.errors?.map(problem),
      notImplemented: () => [],
    },
    securityHandlers: {
      apiKey: given('x-api-key', /^\S+$/),
      bearer: given('authorization', /^Bearer \S+$/),
      session: given('authorization', /^Bearer \S+$/),
    },
  });
  return backend.init();
}

function problem(error: { instancePath: string; message?: string; params?: unknown }): string {
  return `${error.instancePath} ${error.message ?? 'is wrong'} ${JSON.stringify(error.params ?? {})}`.trim();
}

async function parseBody(message: Message): Promise<unknown> {
  if (message.bytes.length === 0) return undefined;
  const type = message.headers['content-type'] ?? '';
  if (mediaType(message) !== form) return JSON.parse(message.bytes.toString());
  const parts = await new Response(message.bytes, { headers: { 'content-type': type } }).formData();
  const texts = [...parts].map(async ([name, part]) => [
    name,
    typeof part === 'string' ? part : await part.text(),
  ]);
  return Object.fromEntries(await Promise.all(texts));
}

/** A body of a media type that is not declared: the library does not look at those. */
function undeclared(message: Message, content: Media | undefined): string[] {
  const type = mediaType(message);
  if (message.bytes.length === 0 || content?.[type] !== undefined) return [];
  return [`a body of the undeclared type "${type}"`];
}

async function checkRequest(backend: OpenAPIBackend, exchange: Exchange): Promise<string[]> {
  const { method, path, query, request, operation } = exchange;
  const declared = operation?.requestBody as { content: Media } | undefined;
  const headers = request.headers as Record<string, string>;
  const body = (await parseBody(request)) as string;
  const found: string[] = await backend.handleRequest({ method, path, query, headers, body });
  return [...(operation === undefined ? [] : undeclared(request, declared?.content)), ...found];
}

async function checkReply(backend: OpenAPIBackend, { reply, operation }: Exchange): Promise<string[]> {
  if (operation === undefined) return [];
  const responses = operation.responses as Record<string, { content?: Media }>;
  const declared = responses[reply.status] ?? responses.default;
  const headers = reply.headers as Record<string, string>;
  const rule = { statusCode: reply.status, setMatchType: SetMatchType.Any };
  const body = await parseBody(reply);
  const results = [
    backend.validator.validateResponse(reply.status === 204 ? (body ?? null) : body, operation, reply.status),
    backend.validator.validateResponseHeaders(headers, operation, rule),
  ];
  const found = results.flatMap((result) => result.errors ?? []).map(problem);
  return [...undeclared(reply, declared?.content), ...found];
}

const text = (error: unknown) => [error instanceof Error ? error.message : String(error)];

type Check = (method: string, url: string, request: Message, reply: Reply) => Promise<Checked>;

interface Checked {
  operationId: string | undefined;
  problems: string[];
}

async function createCheck(): Promise<Check> {
  const document = createOpenApi();
  const backends = { json: await createBackend(document, json), form: await createBackend(document, form) };

  return async (method, url, request, reply) => {
    const backend = mediaType(request) === form ? backends.form : backends.json;
    const [path = '', search = ''] = url.split('?');
    const operation = backend.router.matchOperation({ method, path, headers: {} });
    const exchange = { method, path, query: { ...parseQuery(search) }, request, reply, operation };
    const inRequest = await checkRequest(backend, exchange).catch(text);
    const inReply = await checkReply(backend, exchange).catch(text);
    const problems = [
      ...inRequest.map((found) => `${method} ${url}: request: ${found}`),
      ...inReply.map((found) => `${method} ${url}: reply ${reply.status}: ${found}`),
    ];
    return { operationId: operation?.operationId, problems };
  };
}

let checking: Promise<Check> | undefined;

/** Passes a request on as it came and reads the whole reply. */
function forward(
  target: string,
  incoming: IncomingMessage,
  bytes: Buffer,
): Promise<Reply & { raw: string[] }> {
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(incoming.url ?? '/', target),
      { method: incoming.method, headers: incoming.headers, agent: false },
      (answer) => {
        buffer(answer).then((body) => {
          const { statusCode: status = 0, headers, rawHeaders: raw } = answer;
          resolve({ status, headers, raw, bytes: body });
        }, reject);
      },
    );
    outgoing.on('error', reject).end(bytes);
  });
}

/** Listens in front of a server and holds everything that goes by against the OpenAPI document. */
export async function startValidator(target: string): Promise<Validator> {
  checking ??= createCheck();
  const check = await checking;
  const violations: string[] = [];
  const seen = new Map<string, number>();
  const replies: string[] = [];

  const server = createServer(async (incoming, outgoing) => {
    const { method = '', url = '', headers } = incoming;
    try {
      const bytes = await buffer(incoming);
      const { raw, ...reply } = await forward(target, incoming, bytes);
      const { operationId, problems } = await check(method, url, { headers, bytes }, reply);
      violations.push(...problems);
      replies.push(reply.bytes.toString());
      if (operationId !== undefined) seen.set(operationId, (seen.get(operationId) ?? 0) + 1);
      outgoing.writeHead(reply.status, raw).end(reply.bytes);
    } catch (error) {
      violations.push(`${method} ${url}: not passed on: ${text(error)}`);
      outgoing.destroy();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    violations,
    seen,
    replies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
