import { type Auth, type Endpoint, pathParams, type Schema } from '../../src/contract/endpoint.ts';
import { shown } from '../../src/contract/fields.ts';
import { api } from '../../src/contract/index.ts';
import { itemSchema } from '../../src/contract/shape.ts';
import * as results from '../../src/gate/result-schema.ts';

/*
 * Writes the types of the API and of the results as plain TypeScript. The types that the compiler derives from the schemas refer to the
 * schema library, which the package's users do not have.
 */

/** The doc comment of each type; a type without one is an error. */
const docs: Record<string, string> = {
  OrderListItem:
    'An order of the list. `total` is a number of `currency` units for display; for sums use `listExact`.',
  OrderList: 'The list of orders.',
  KeyFields: 'The fields for creating an API key.',
  CreatedKey: 'A new API key.',
  CancelFields: 'The fields for cancelling a run.',
  WebhookFields:
    'The fields for registering a webhook. The API describes only `projectId`. Give others with `otherFields`: the mock needs a `url`, and accepts `events`.',
  Order: 'A single order. `total` is a number of `currency` units.',
  OrderSummary: 'The number of orders and their total revenue, over all currencies.',
  RunStatus:
    'State and counts of a run. The counts are reliable only once the run has ended: `EndedRunStatus`. `retryAfterSeconds` is the wait before the next status read.',
  Environment:
    'An environment. `fieldsOf` returns the fields that the API does not describe, such as the id that the mock sends.',
  EnvironmentFields: 'The fields for creating or changing an environment.',
  MobileRuntimeOverrides: "Overrides of the project's defaults; mobile projects only.",
  Variable: 'A variable of an environment. The API describes none of its fields.',
  Observation: 'An observation. The API describes only the fields for filters.',
  Webhook: 'A webhook. The API describes none of its fields.',
  Delivery: 'A recorded delivery of a webhook. The API describes none of its fields.',
};

/** Types that are declared by hand. */
const written: Record<string, { name: string; from: string }> = {
  RunRequest: { name: 'TriggerBody', from: 'contract/run.ts' },
  CreatedRun: { name: 'CreatedRun', from: 'contract/run.ts' },
  ErrorReport: { name: 'ErrorReport', from: 'errors.ts' },
  StopCause: { name: 'StopCause', from: 'errors.ts' },
  Verdict: { name: 'Verdict', from: 'gate/policy.ts' },
  Action: { name: 'Action', from: 'gate/policy.ts' },
  Result: { name: 'Result', from: 'gate/policy.ts' },
  GateResult: { name: 'GateResult', from: 'gate/plan/graph.ts' },
};

/** Returns the imports of the types that the text uses, for a file in a folder of src. */
function importsOf(text: string): string {
  const plain = text.replace(/\/\*\*.*?\*\//gs, '');
  const used = Object.values(written).filter(({ name }) => new RegExp(`\\b${name}\\b`).test(plain));
  const namesIn = (file: string) => used.flatMap(({ name, from }) => (from === file ? name : []));
  return [...new Set(used.map(({ from }) => from))]
    .map((file) => `import type { ${namesIn(file).join(', ')} } from '../${file}';\n`)
    .join('');
}

/** Types for callers that depend on a field. */
const narrowed: Record<string, string> = {
  RunStatus: 'EndedRunStatus | PendingRunStatus',
  // The body is empty if `Location` names the run.
  CreatedRun: 'CreatedRun | undefined',
};

/** The types of `contract/types.ts`, which are written by hand. */
const generics = ['Page', 'Fields', 'FileContent', 'FileUpload', 'EndedRunStatus', 'PendingRunStatus'];

interface Definition {
  readonly type: string;
  readonly innerType?: Schema;
  readonly element?: Schema;
  readonly options?: readonly Schema[];
  readonly shape?: Readonly<Record<string, Schema>>;
  readonly entries?: Readonly<Record<string, string>>;
  readonly values?: readonly unknown[];
}
const definition = (schema: Schema): Definition => schema._zod.def as unknown as Definition;

/** The named types so far, by name. */
type Named = Map<string, string>;

const comment = (text: string, indent = '') => `${indent}/** ${text} */\n`;

const quoted = (values: readonly string[]) => values.map((value) => `'${value}'`).join(' | ');

/** Returns the known values of a string that accepts others. */
function knownStrings(meta: unknown): readonly string[] | undefined {
  const { anyOf } = (meta ?? {}) as { anyOf?: readonly { enum?: readonly string[] }[] };
  return anyOf?.find((one) => one.enum !== undefined)?.enum;
}

/** Returns a description as a sentence. */
const sentence = (text: string) =>
  `${text.replace(/^./, (first) => first.toUpperCase()).replace(/\.$/, '')}.`;

/** With fields that the API describes, others are only in `fieldsOf` and `otherFields`: the compiler finds a misspelt one. */
function members(schema: Schema, named: Named): string[] {
  const fields = Object.entries(definition(schema).shape ?? {});
  if (fields.length === 0) return ['[field: string]: unknown'];
  return fields.map(([name, field]) => {
    const optional = definition(field).type === 'optional';
    const about = shown.get(field)?.description;
    const doc = about === undefined ? '' : comment(sentence(String(about)));
    return `${doc}${name}${optional ? '?' : ''}: ${typeText(field, named)}`;
  });
}

/** Returns the type of a schema's values, and adds types with a name to `named`. */
function typeText(schema: Schema, named: Named): string {
  const meta = shown.get(schema);
  // A field with its own description is a copy of a named schema.
  const original = schema._zod.parent as Schema | undefined;
  if (original !== undefined && shown.get(original)?.id !== undefined) return typeText(original, named);
  const { id } = (meta ?? {}) as { id?: string };
  if (id !== undefined) {
    const own = written[id]?.name;
    if (own !== undefined) return own;
    const doc = docs[id] ?? meta?.description;
    if (doc === undefined) throw new Error(`${id} needs a doc comment in test/generated/service-types.ts`);
    const { entries: choices } = definition(schema);
    if (choices !== undefined) {
      named.set(id, `${comment(String(doc))}export type ${id} = ${quoted(Object.values(choices))};\n`);
      return id;
    }
    const lines = members(schema, named).map((line) => `  ${line};\n`);
    named.set(id, `${comment(String(doc))}export interface ${id} {\n${lines.join('')}}\n`);
    return id;
  }
  const { type, innerType, element, options = [], entries = {}, values = [] } = definition(schema);
  switch (type) {
    case 'enum':
      return quoted(Object.values(entries));
    case 'literal':
      return values.join(' | ');
    case 'readonly':
      return innerType === undefined ? 'unknown' : `readonly ${typeText(innerType, named)}`;
    case 'string': {
      const known = knownStrings(meta);
      return known === undefined ? 'string' : `${quoted(known)} | (string & Record<never, never>)`;
    }
    case 'number':
    case 'boolean':
    case 'unknown':
      return type;
    case 'optional': {
      const inner = innerType === undefined ? 'unknown' : typeText(innerType, named);
      return schema._zod.traits.has('$ZodExactOptional') ? inner : `${inner} | undefined`;
    }
    case 'nullable':
      return innerType === undefined ? 'unknown' : `${typeText(innerType, named)} | null`;
    case 'array': {
      const item = element === undefined ? 'unknown' : typeText(element, named);
      return /[|&]/.test(item) ? `(${item})[]` : `${item}[]`;
    }
    case 'union':
      return options.map((one) => typeText(one, named)).join(' | ');
    case 'object':
      if (Object.keys(definition(schema).shape ?? {}).length > 0)
        throw new Error('an object type needs a name');
      return 'Fields';
    default:
      throw new Error(`no TypeScript type for a schema of the type ${type}`);
  }
}

/** Returns the type of the items of a list. */
function itemText(response: Schema, named: Named): string {
  const item = itemSchema(response);
  return item === undefined ? 'unknown' : typeText(item, named);
}

const credentials: Record<Auth, string> = {
  bearer: 'a bearer token',
  jwt: 'a bearer token, never an API key',
  key: 'an API key',
  either: 'a bearer token or an API key',
};

const pascal = (name: string) =>
  name
    .split('.')
    .map((part) => part.replace(/^./, (first) => first.toUpperCase()))
    .join('');

function method(name: string, endpoint: Endpoint, named: Named): string {
  const { path, body, bodyOptional, multipart, query, response, summary, auth, list, paged } = endpoint;
  const args = pathParams(path).map((param) => `${param}: string`);
  const file = multipart ? ' | FileContent | FileUpload' : '';
  if (body !== undefined) args.push(`body${bodyOptional ? '?' : ''}: ${typeText(body, named)}${file}`);
  if (query !== undefined) {
    const type = `${pascal(name)}Query`;
    const fields = members(query, named).map((line) => `  ${line};\n`);
    const note = paged ? '. Pages count from 1' : '';
    named.set(
      type,
      `${comment(`The query of \`${name}\`${note}.`)}export interface ${type} {\n${fields.join('')}}\n`,
    );
    args.push(`query?: ${type}`);
  }
  args.push('options?: CallOptions');
  const item = list ? itemText(response, named) : '';
  const plain = list ? `Page<${item}>` : typeText(response, named);
  const text = narrowed[plain] ?? plain;
  const leaf = name.slice(name.lastIndexOf('.') + 1);
  const doc = comment(`${summary}: \`${endpoint.method} ${path}\`, with ${credentials[auth]}.`);
  if (!paged) return `${doc}${leaf}(${args.join(', ')}): Promise<${text}>;\n`;
  const ids = pathParams(path).map((param) => `${param}: string`);
  return `${doc}readonly ${leaf}: PagedMethod<[${ids.join(', ')}], ${pascal(name)}Query, ${item}>;\n`;
}

const pagedMethod = `/** The method of a list that the service returns page by page. */
export interface PagedMethod<Path extends string[], Query, Item> {
  (...args: [...path: Path, query?: Query | undefined, options?: CallOptions | undefined]): Promise<Page<Item>>;
  ${comment('Every item, page by page, from `query.page` on. The next page is read while one is consumed; leaving the loop stops reading. Timeouts and retries apply to each page.')}all(...args: Parameters<this>): AsyncIterableIterator<Item>;
}

`;

interface Group {
  methods: string[];
  groups: Map<string, Group>;
}
const group = (): Group => ({ methods: [], groups: new Map() });

function groupText({ methods, groups }: Group): string {
  const below = [...groups].map(([name, inner]) => `readonly ${name}: {\n${groupText(inner)}};\n`);
  return [...methods, ...below].join('');
}

const generated =
  '// Generated from src/contract by `npm run generate`; do not edit. A test fails while it is stale.\n';

/** Returns the two files: the types of the API, and the methods of the client. */
export function serviceTypes(): { types: string; client: string } {
  const named: Named = new Map();
  const root = group();
  for (const [name, endpoint] of Object.entries(api) as [string, Endpoint][]) {
    let here = root;
    for (const part of name.split('.').slice(0, -1)) {
      const next = here.groups.get(part) ?? group();
      here.groups.set(part, next);
      here = next;
    }
    here.methods.push(method(name, endpoint, named));
  }
  root.groups
    .get('orders')
    ?.methods.push(
      `${comment('The list, with each total as the decimal text from the response, for exact sums.')}listExact(options?: ExactOptions): Promise<{ orders: ExactOrder[] }>;\n`,
    );
  const names = Object.keys(api).map((name) => `'${name}'`);
  const body = groupText(root);
  const usedBy = (text: string, all: readonly string[]) => {
    const plain = text.replace(/\/\*\*.*?\*\//gs, '');
    return all.filter((name) => new RegExp(`\\b${name}\\b`).test(plain)).toSorted();
  };
  return {
    types:
      `${generated}\n/** The names of the endpoints. */\n` +
      `export type EndpointName = ${names.join(' | ')};\n\n${[...named.values()].join('\n')}`,
    client:
      `${generated}${importsOf(body)}` +
      `import type { ${usedBy(body, [...named.keys()]).join(', ')} } from '../contract/service-types.ts';\n` +
      `import type { ${usedBy(body, generics).join(', ')} } from '../contract/types.ts';\n` +
      `import type { ExactOptions, ExactOrder } from './exact-orders.ts';\nimport type { CallOptions } from './options.ts';\n\n` +
      pagedMethod +
      `/**\n * Every endpoint of the service as a method under its dotted name: \`client.run.trigger(body)\`. The arguments are the\n` +
      ` * path parameters in order, then the body and the query if the endpoint has them, then options. A call is retried if that\n` +
      ` * is safe, and rejects with a RungateError whose \`facts\` describe the call.\n */\n` +
      `export interface ServiceClient {\n${body}${comment('Ends the calls in progress and closes every connection.')}close(): Promise<void>;\n}\n`,
  };
}

/** Returns the types of the results. */
export function resultTypes(): string {
  const named: Named = new Map();
  for (const schema of Object.values(results)) typeText(schema, named);
  const types = [...named.values()].join('\n');
  const from = generated.replace('src/contract', 'result-schema.ts');
  return `${from}${importsOf(types)}\n${types}`;
}
