import { toJSONSchema } from 'zod/v4/core';
import { type Auth, type Endpoint, pathParams, type Schema } from '../../src/contract/endpoint.ts';
import { anyResponse, shown } from '../../src/contract/fields.ts';
import { api } from '../../src/contract/index.ts';

type JsonObject = Record<string, unknown>;

const description = `Test runs, environments, observations, webhooks and API keys of a test-automation platform, and the read
API of its order administration.

Generated from rungate's code by \`npm run generate\`. Responses and bodies that the service does not describe are open
here: any JSON, or none.`;

const tags: Record<string, string> = {
  orders: 'The orders of the current account',
  keys: 'API keys, managed only by user sessions',
  run: 'Test runs of a CI pipeline',
  env: 'The environments of test sessions, with their variables',
  observations: 'Exploratory findings and their confirmation, archiving and promotion',
  webhooks: 'Registered receivers of events, and their deliveries',
};

const errors: Record<string, readonly [name: string, description: string]> = {
  400: ['BadRequest', 'The request is malformed'],
  401: ['Unauthorized', 'The credential is missing or unknown'],
  403: ['Forbidden', 'The credential does not allow this'],
  404: ['NotFound', 'The resource does not exist, or belongs to another account'],
  409: [
    'Conflict',
    'The request conflicts with the current state, or with another request in progress under the same key',
  ],
  422: ['Unprocessable', 'The request is well-formed but invalid'],
  429: ['TooManyRequests', 'Too many requests per minute'],
  default: ['Failure', 'Any other failure'],
};

const countHeader = (text: string) => ({ description: text, schema: { type: 'integer', minimum: 0 } });

const limitHeaders: JsonObject = {
  'Retry-After': {
    description: 'The wait in seconds, or an HTTP date',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': countHeader('Requests allowed in the current window'),
  'RateLimit-Remaining': countHeader('Requests left in the current window'),
  'RateLimit-Reset': countHeader('Seconds until the next window'),
};

const credentials: Record<Auth, { security: readonly JsonObject[]; text: string }> = {
  bearer: { security: [{ bearer: [] }], text: 'Requires a bearer token.' },
  jwt: {
    security: [{ session: [] }],
    text: 'Requires the token of a user session; API keys are not accepted.',
  },
  key: { security: [{ apiKey: [] }], text: 'Requires an API key.' },
  either: {
    security: [{ bearer: [] }, { apiKey: [] }],
    text: 'Requires a bearer token or an API key; the service does not say which.',
  },
};

const securitySchemes: JsonObject = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'For CI and server-to-server use' },
  bearer: { type: 'http', scheme: 'bearer', description: 'The token of a user session' },
  session: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: 'The token of a user session; never an API key',
  },
};

const idempotencyKey: JsonObject = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'A request with the same key does not create a second run. A re-run job sends the key that it sent before',
  schema: { type: 'string', minLength: 1 },
};

const isEmpty = (value: unknown) =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

/** Keywords that zod writes although they are redundant, or describe JavaScript instead of the service. */
function tidy({ jsonSchema }: { jsonSchema: JsonObject }): void {
  if (isEmpty(jsonSchema.properties)) delete jsonSchema.properties;
  if (isEmpty(jsonSchema.additionalProperties)) delete jsonSchema.additionalProperties;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

/**
 * Returns a schema of the API as a JSON schema of OpenAPI 3.1. Schemas with an id (`shown`) go into `components` and
 * are referenced.
 */
function jsonSchema(schema: Schema, io: 'input' | 'output', components: JsonObject): JsonObject {
  const made: JsonObject = toJSONSchema(schema, { io, metadata: shown, override: tidy });
  const text = JSON.stringify(made).replaceAll('"#/$defs/', '"#/components/schemas/');
  const {
    $schema: _,
    $defs,
    ...rest
  } = JSON.parse(text) as JsonObject & { $defs?: Record<string, JsonObject> };
  for (const [name, { id: __, ...component }] of Object.entries($defs ?? {})) components[name] = component;
  return rest;
}

function queryParameters(endpoint: Endpoint, schemas: JsonObject): JsonObject[] {
  if (endpoint.query === undefined) return [];
  const { properties, required, additionalProperties } = jsonSchema(endpoint.query, 'input', schemas) as {
    properties?: Record<string, JsonObject>;
    required?: string[];
    additionalProperties?: unknown;
  };
  const form = { in: 'query', style: 'form', explode: true };
  const named = Object.entries(properties ?? {}).map(([name, { description, ...schema }]) => {
    const said = description === undefined ? {} : { description };
    return { name, ...form, required: required?.includes(name) ?? false, ...said, schema };
  });
  if (additionalProperties === false) return named;
  const others = {
    name: 'others',
    ...form,
    required: false,
    description: 'Any other parameter, under its own name; the service does not describe them',
    schema: { type: 'object', additionalProperties: { type: 'string' } },
  };
  return [...named, others];
}

function parameters(endpoint: Endpoint, schemas: JsonObject): JsonObject[] {
  const schema = { type: 'string', minLength: 1 };
  const path = pathParams(endpoint.path).map((name) => ({ name, in: 'path', required: true, schema }));
  const keyed = endpoint.keyed ? [{ $ref: '#/components/parameters/IdempotencyKey' }] : [];
  return [...path, ...queryParameters(endpoint, schemas), ...keyed];
}

const upload = {
  schema: {
    type: 'object',
    properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
    required: ['file'],
  },
};

function requestBody(endpoint: Endpoint, schemas: JsonObject): JsonObject | undefined {
  if (endpoint.body === undefined) return undefined;
  return {
    required: endpoint.bodyOptional !== true,
    content: {
      'application/json': { schema: jsonSchema(endpoint.body, 'input', schemas) },
      ...(endpoint.multipart ? { 'multipart/form-data': upload } : {}),
    },
  };
}

function responses(endpoint: Endpoint, schemas: JsonObject): JsonObject {
  const open = endpoint.response === anyResponse;
  const likely = endpoint.anyBody === true;
  const content = { 'application/json': { schema: jsonSchema(endpoint.response, 'output', schemas) } };
  const body = open ? 'with any JSON' : 'probably with this content';
  const detail = open || likely ? `, ${body}; the service does not describe it` : '';
  return {
    200: { description: `Done${detail}`, content },
    ...(endpoint.method === 'POST' ? { 201: { description: `Created${detail}`, content } } : {}),
    ...(open || likely ? { 204: { description: 'Done, without content' } } : {}),
    ...Object.fromEntries(
      Object.entries(errors).map(([status, [name]]) => [status, { $ref: `#/components/responses/${name}` }]),
    ),
  };
}

function operationText({ auth, keyed, idempotent, destructive }: Endpoint): string {
  const sentences = [
    credentials[auth].text,
    keyed && 'A repetition with the same `Idempotency-Key` has no further effect.',
    idempotent && 'A repetition has no further effect.',
    destructive !== undefined && 'It cannot be undone.',
  ];
  return sentences.filter(Boolean).join(' ');
}

function operation(name: string, endpoint: Endpoint, schemas: JsonObject): JsonObject {
  const all = parameters(endpoint, schemas);
  const body = requestBody(endpoint, schemas);
  return {
    operationId: name,
    tags: [name.split('.')[0]],
    summary: endpoint.summary,
    description: operationText(endpoint),
    security: credentials[endpoint.auth].security,
    ...(all.length > 0 ? { parameters: all } : {}),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responses(endpoint, schemas),
  };
}

function errorResponses(): JsonObject {
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  return Object.fromEntries(
    Object.entries(errors).map(([status, [name, text]]) => [
      name,
      { description: text, ...(status === '429' ? { headers: limitHeaders } : {}), content },
    ]),
  );
}

const header = (name: string, description: string, schema: JsonObject): JsonObject => ({
  ...{ name, in: 'header', required: true, description, schema },
});

/** The delivery that the service sends to each registered receiver. */
const delivery: JsonObject = {
  operationId: 'delivery',
  tags: ['webhooks'],
  summary: 'Deliver an event to a registered receiver',
  description: `Signed with HMAC-SHA256 over \`<timestamp>.<body>\`: the timestamp header, a dot, and the bytes of the body as
sent. The key is the webhook's secret, or the tenant's signing secret if one is configured. The real headers contain a vendor's
name in place of \`Service\`.`,
  security: [],
  parameters: [
    header('X-Service-Timestamp', 'The time of the signature', { type: 'string', format: 'date-time' }),
    header('X-Service-Signature', '`sha256=` and the signature in hexadecimal', {
      type: 'string',
      pattern: '^sha256=[0-9a-f]{64}$',
    }),
  ],
  requestBody: {
    required: true,
    description: 'The event. The service does not describe the event types and their payloads.',
    content: { 'application/json': { schema: {} } },
  },
  responses: {
    '2XX': { description: 'The receiver accepted the delivery' },
    '4XX': { description: 'The receiver refused the delivery: its signature is wrong, or it is too old' },
  },
};

export function createOpenApi(): Record<string, unknown> {
  const schemas: JsonObject = {
    Error: {
      type: 'object',
      properties: {
        error: { type: 'string', description: 'The error message' },
        details: { type: 'string' },
      },
      required: ['error'],
    },
  };
  const paths: Record<string, JsonObject> = {};
  for (const [name, endpoint] of Object.entries<Endpoint>(api)) {
    const path = paths[endpoint.path] ?? {};
    path[endpoint.method.toLowerCase()] = operation(name, endpoint, schemas);
    paths[endpoint.path] = path;
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'Test automation and order administration',
      version: '1.0',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, text]) => ({ name, description: text })),
    paths,
    webhooks: { delivery: { post: delivery } },
    components: {
      schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
      parameters: { IdempotencyKey: idempotencyKey },
      responses: errorResponses(),
      securitySchemes,
    },
  };
}
