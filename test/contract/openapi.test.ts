import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import type { Endpoint } from '../../src/contract/endpoint.ts';
import { api } from '../../src/contract/index.ts';
import { runIdPlaces } from '../../src/contract/run.ts';
import { defaultHeaderNames } from '../../src/webhook/headers.ts';
import { signSync } from '../../src/webhook/node.ts';
import { createOpenApi } from '../generated/openapi.ts';

interface Operation {
  operationId: string;
  tags: string[];
  summary: string;
  security: Record<string, []>[];
  parameters?: { name?: string; in?: string; required?: boolean; schema?: unknown; $ref?: string }[];
  requestBody?: { required: boolean; content: Record<string, { schema: unknown }> };
  responses: Record<string, { content?: unknown; $ref?: string }>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
  info: { version: string };
  webhooks: Record<string, Record<string, Operation>>;
  servers: unknown;
  components: { schemas: Record<string, Record<string, unknown>> };
}

const document = createOpenApi() as unknown as Document;
const at = (name: keyof typeof api): Operation => {
  const endpoint: Endpoint = api[name];
  const found = document.paths[endpoint.path]?.[endpoint.method.toLowerCase()];
  if (found === undefined) throw new Error(`${name} is not in the document`);
  return found;
};
const named = (operation: Operation, place: string) =>
  (operation.parameters ?? [])
    .filter((parameter) => parameter.in === place)
    .map((parameter) => parameter.name);

/**
 * Returns the problems that Redocly's linter finds with its strictest rules. It runs on Node 20, supports OpenAPI 3.1 and
 * its core has only 21 packages. Spectral, which finds no errors here either, has 234. swagger-parser and
 * openapi-schema-validator check only the JSON schema of the specification.
 */
async function lint(source: unknown): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const problems = await lintFromString({
    source: JSON.stringify(source),
    absoluteRef: 'openapi.json',
    config,
  });
  return problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`);
}

it('has no error and no warning for an independent linter', async () =>
  expect(await lint(document)).toEqual([]));

describe('the document', () => {
  it('has every endpoint once, under its name', () => {
    const ids = Object.values(document.paths).flatMap((path) =>
      Object.values(path).map((one) => one.operationId),
    );
    expect(ids.toSorted()).toEqual(Object.keys(api).toSorted());
  });

  it.each(Object.entries<Endpoint>(api))('describes %s as its declaration does', (name, endpoint) => {
    const operation = at(name as keyof typeof api);
    expect(operation).toMatchObject({
      operationId: name,
      summary: endpoint.summary,
    });
    expect(operation.tags).toEqual([name.split('.')[0]]);
    expect(named(operation, 'path').map((param) => `{${param}}`)).toEqual(
      endpoint.path.match(/\{[^}]+\}/g) ?? [],
    );
    expect(operation.requestBody?.required).toBe(endpoint.body && endpoint.bodyOptional !== true);
    for (const status of ['400', '401', '403', '404', '409', '422', '429', 'default'])
      expect(operation.responses[status]?.$ref).toMatch(/^#\/components\/responses\//);
  });

  it.each<[keyof typeof api, string[]]>([
    ['run.trigger', ['apiKey']],
    ['keys.create', ['session']],
    ['env.list', ['bearer']],
    ['orders.list', ['bearer', 'apiKey']],
  ])('%s takes %j', (name, schemes) => {
    expect(at(name).security).toEqual(schemes.map((scheme) => ({ [scheme]: [] })));
  });

  it('lists the query parameters of a list, and allows any for a search', () => {
    expect(named(at('webhooks.list'), 'query')).toEqual(['projectId', 'includeGlobal', 'page', 'pageSize']);
    expect(at('observations.search').parameters?.at(-1)).toMatchObject({
      explode: true,
      schema: { type: 'object', additionalProperties: { type: 'string' } },
    });
    expect(at('observations.list').parameters).toContainEqual(
      expect.objectContaining({ name: 'createdAfter', schema: { type: 'string', format: 'date-time' } }),
    );
  });

  it('takes an Idempotency-Key where the API does', () => {
    const keyed = Object.keys(api).filter((name) =>
      at(name as keyof typeof api).parameters?.some(({ $ref }) => $ref?.endsWith('/IdempotencyKey')),
    );
    expect(keyed).toEqual(['run.trigger']);
  });

  it('allows any JSON or no body only for responses that the API does not describe', () => {
    const statuses = (name: keyof typeof api) =>
      Object.keys(at(name).responses).filter((status) => status < '3');
    expect(statuses('run.cancel')).toEqual(['200', '201', '204']);
    expect(statuses('keys.delete')).toEqual(['200', '204']);
    expect(statuses('keys.create')).toEqual(['200', '201']);
    expect(statuses('run.status')).toEqual(['200']);
    expect(at('run.cancel').responses[200]?.content).toEqual({ 'application/json': { schema: {} } });
  });

  it('has the defaults that the API states', () => {
    const defaults = (name: keyof typeof api) =>
      (at(name).parameters ?? []).flatMap(({ name, schema }) => {
        const { default: value } = (schema ?? {}) as { default?: unknown };
        return value === undefined ? [] : [[name, value]];
      });
    expect(defaults('webhooks.list')).toEqual([
      ['includeGlobal', true],
      ['pageSize', 20],
    ]);
    expect(defaults('env.list')).toEqual([['pageSize', 20]]);
  });

  it('has the version of the order API', () => expect(document.info.version).toBe('1.0'));

  it('describes a delivery as rungate signs one', () => {
    const delivery = document.webhooks.delivery?.post;
    const { timestamp, signature } = signSync({ body: '{}', secret: 'secret' });
    const headers = { [defaultHeaderNames.timestamp]: timestamp, [defaultHeaderNames.signature]: signature };
    expect(Object.keys(headers)).toEqual(delivery?.parameters?.map(({ name }) => name));
    for (const { name = '', schema, required } of delivery?.parameters ?? []) {
      expect(required).toBe(true);
      expect(headers[name]).toMatch(new RegExp((schema as { pattern?: string }).pattern ?? 'Z$'));
    }
    expect(delivery?.requestBody).toMatchObject({
      required: true,
      content: { 'application/json': { schema: {} } },
    });
  });

  it('shows where rungate looks for the id of a created run', () => {
    expect(document.components.schemas.CreatedRun).toMatchObject({
      anyOf: runIdPlaces.map(([outer]) => ({ required: [outer] })),
    });
    expect(at('run.trigger').responses[201]?.content).toMatchObject({
      'application/json': { schema: { $ref: '#/components/schemas/CreatedRun' } },
    });
    expect(at('run.trigger').responses).not.toHaveProperty('204');
  });
});
