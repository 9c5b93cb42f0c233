import { describe, expect, it, onTestFinished } from 'vitest';
import type { EndpointName } from '../../src/contract/index.ts';
import { isOpen, schemaFields } from '../../src/contract/shape.ts';
import { cli, stage } from '../cli/harness.ts';
import { json as answer, serve } from '../transport/serve.ts';
import {
  argvOf,
  endpointOf,
  endpoints,
  type Filling,
  lists,
  type OddResponse,
  type Outcome,
  play,
  sampleItem,
  sampleResponse,
  throughLibrary,
} from './odd-scene.ts';

/*
 * A table of (endpoint × odd response), through the command line and the library. A row has a response, the endpoints that
 * get it, and a check of the outcome.
 */
interface Row {
  name: string;
  /** Default: all of them. */
  endpoints?: readonly EndpointName[];
  response(name: EndpointName): OddResponse;
  /** Additional arguments of the command. */
  argv?: readonly string[];
  /** Checks the outcome; `sent` is the response's JSON. */
  check(outcome: Outcome, name: EndpointName, sent: unknown): void;
}

const json = (value: unknown): OddResponse => ({ text: JSON.stringify(value) });

/** The endpoints whose command prints a part of the response: a run id, a token. */
const ownResult: readonly EndpointName[] = ['run.trigger', 'keys.create'];

/** Returns the JSON that a command prints for a response: the response, with the run id in a status. */
function printed(name: EndpointName, sent: unknown): unknown {
  const named = name === 'run.status' && typeof sent === 'object' && sent !== null && !Array.isArray(sent);
  return named ? { runId: 'id-1', ...sent } : sent;
}

/** Returns a list's response as the library does. */
function asList(sent: unknown): unknown {
  if (Array.isArray(sent)) return { items: sent };
  const { items, ...others } = sent as { items: unknown };
  return { ...others, items };
}

/** Checks that the response is accepted: printed unchanged and returned whole. */
function accepted(
  { code, tableCode, out, err, value, error }: Outcome,
  name: EndpointName,
  sent: unknown,
): void {
  expect({ code, tableCode, error }, err).toEqual({ code: 0, tableCode: 0, error: undefined });
  if (!ownResult.includes(name)) expect(JSON.parse(out)).toEqual(printed(name, sent));
  expect(value).toEqual(endpointOf(name).list && sent !== null ? asList(sent) : value);
  if (!endpointOf(name).list) expect(value).toEqual(sent);
}

const filled = (filling: Filling) => (name: EndpointName) => json(sampleResponse(name, filling));

/** Returns the body of a refused response as an error shows it: unchanged, except that the texts of a new key are redacted. */
const redactedBody = (name: EndpointName, sent: unknown) =>
  JSON.stringify(sent, (_, value) => (name === 'keys.create' && typeof value === 'string' ? '***' : value));

/** The endpoints whose response the API describes, or whose command needs an id or a token from it. */
const bodyShown: readonly EndpointName[] = [
  ...(['orders.list', 'orders.summary', 'orders.get', 'keys.create', 'run.trigger', 'run.status'] as const),
  ...lists,
];

/** The endpoints whose response the API does not describe. Any body is valid for them. */
const notShown = endpoints.filter((name) => !bodyShown.includes(name));

/** Checks that the response is refused: the command exits with 5 and names the field, and the library throws. */
const refused =
  (field: string) =>
  ({ code, err, error }: Outcome, name: EndpointName, sent: unknown): void => {
    expect(code, err).toBe(5);
    const body = redactedBody(name, sent);
    const shown = JSON.parse(err).error;
    expect(shown).toMatchObject({ code: 'unexpected_response', body });
    expect(shown.message).not.toContain(name);
    expect(shown.message).toContain(endpointOf(name).method);
    expect(error).toMatchObject({ code: 'unexpected_response', field, body });
  };

/** Checks that the response is accepted, with a warning about the field on standard error. */
const acceptedWithWarning =
  (field: string) =>
  (outcome: Outcome, name: EndpointName, sent: unknown): void => {
    accepted(outcome, name, sent);
    expect(outcome.err).toContain(`does not match the API: ${field}`);
  };

const rows: Row[] = [
  { name: 'that matches the API', response: filled('value'), check: accepted },
  { name: 'with null in each optional field', response: filled('null'), check: accepted },
  { name: 'without its optional fields', response: filled('missing'), check: accepted },
  {
    name: 'with an additional field',
    // The API does not allow other fields in the summary.
    endpoints: endpoints.filter((name) => name !== 'orders.summary' && !lists.includes(name)),
    response: (name) => json({ ...(sampleResponse(name, 'value') as object), later: { a: [1] } }),
    check: accepted,
  },
  {
    name: 'with one item that does not match the API',
    endpoints: lists.filter((name) => name !== 'webhooks.eventTypes'),
    response: (name) => json({ items: [sampleItem(name), 7, null] }),
    check: acceptedWithWarning('items[1]'),
  },
  {
    name: 'that is 204 without a body',
    endpoints: lists,
    response: () => ({ status: 204, text: '', headers: {} }),
    check: ({ code, tableCode, err, value }) => {
      expect({ code, tableCode, value }).toEqual({ code: 0, tableCode: 0, value: { items: [] } });
      expect(err).toContain('nothing found');
    },
  },
  {
    name: 'that is 200 without a body, where the API describes a page',
    endpoints: ['env.list', 'observations.list', 'webhooks.list'],
    response: () => ({ text: '' }),
    check: ({ code, err, error }) => {
      expect(code).toBe(5);
      expect(err).toContain('is not JSON: an empty body');
      expect(error).toMatchObject({ code: 'unexpected_response', status: 200 });
    },
  },
  {
    name: 'that is 200 without a body',
    // An empty body does not match the API only where it shows a page.
    endpoints: [
      'env.overview',
      'env.vars.list',
      'observations.search',
      'webhooks.eventTypes',
      'webhooks.deliveries.list',
    ],
    response: () => ({ text: '' }),
    check: ({ code, tableCode, err, value, seen }) => {
      expect({ code, tableCode, value }).toEqual({ code: 0, tableCode: 0, value: { items: [] } });
      expect(err).toContain('nothing found');
      // Not counting the request that looks up the environment's key.
      expect(seen.filter(({ url }) => !/environments($|[?])/.test(url))).toHaveLength(3);
    },
  },
  {
    name: 'without a list, or with two',
    endpoints: lists.filter((name) => name !== 'webhooks.eventTypes'),
    response: () => json({ a: [], b: [] }),
    check: refused('items'),
  },
  // Statuses that it does not trust: the command shows them, but the library refuses them, since its type has the counts.
  ...(
    [
      [{ state: 'completed' }, 'failed'],
      [{ status: 'completed' }, 'state'],
      [null, ''],
    ] as const
  ).map(
    ([status, field]): Row => ({
      name: JSON.stringify(status),
      endpoints: ['run.status'],
      response: () => json(status),
      check({ code, out, err, tableCode, error }) {
        expect({ code, tableCode }).toEqual({ code: 0, tableCode: 0 });
        expect(JSON.parse(out)).toEqual(printed('run.status', status));
        expect(err).toContain('warning: the gate would not trust this status');
        expect(error).toMatchObject({ code: 'unexpected_response', field });
      },
    }),
  ),
];

describe.each(rows)('a response $name', ({ endpoints: own = endpoints, response, argv, check }) => {
  it.each(own)('to %s', async (name) => {
    const sent = response(name);
    const outcome = await play(name, sent, argv);
    check(outcome, name, sent.text === '' ? undefined : JSON.parse(sent.text));
  });
});

describe.each<[string, OddResponse, unknown]>([
  ['204', { status: 204, text: '', headers: {} }, undefined],
  ['null', { text: 'null' }, null],
  ['text', { text: 'Done: 1', headers: { 'content-type': 'text/plain' } }, 'Done: 1'],
])('a response that is %s', (_, response, sent) => {
  it.each(notShown)('to %s is a success, sent once', async (name) => {
    const { code, err, out, tableCode, tableOut, value, error, seen } = await play(name, response);
    expect({ code, tableCode, error, value }, err).toEqual({
      code: 0,
      tableCode: 0,
      error: undefined,
      value: sent,
    });
    if (sent !== undefined) expect(JSON.parse(out)).toEqual(sent);
    if (typeof sent === 'string') expect(tableOut).toContain(sent);
    const { method } = endpointOf(name);
    // One request from each of the two commands and the library.
    expect(seen.filter((one) => one.method === method)).toHaveLength(3);
  });
});

describe('a response that is text', () => {
  it.each(endpoints.filter((name) => !notShown.includes(name)))(
    'to %s is refused, and the error shows it',
    async (name) => {
      const { code, err, error } = await play(name, { text: 'Done: 1' });
      expect(code).toBe(5);
      const body = name === 'keys.create' ? null : 'Done: 1';
      expect(JSON.parse(err.trim().split('\n').at(-1) ?? '').error).toMatchObject({
        code: 'unexpected_response',
        body,
      });
      expect(error).toMatchObject({ code: 'unexpected_response', body: body ?? undefined });
    },
  );
});

/** The shapes of a list, and the value that the library returns for each. */
const shapes: readonly [name: string, (item: unknown) => unknown, (item: unknown) => unknown][] = [
  ['a bare array', (item) => [item], (item) => ({ items: [item] })],
  ['an array of another name', (item) => ({ environments: [item] }), (item) => ({ items: [item] })],
  [
    'null numbers beside it',
    (item) => ({ data: [item], page: null, totalCount: null, hasNextPage: null }),
    (item) => ({ items: [item], page: null, totalCount: null, hasNextPage: null }),
  ],
];

describe.each(shapes)('a list that is %s', (_, shape, returned) => {
  it.each(lists)('of %s is printed unchanged, and returned with its items', async (name) => {
    const item = sampleItem(name);
    const { code, out, err, tableCode, tableOut, value } = await play(name, json(shape(item)));
    expect({ code, tableCode }, err).toEqual({ code: 0, tableCode: 0 });
    expect(JSON.parse(out)).toEqual(shape(item));
    expect(tableOut).toContain('item-1');
    expect(value).toEqual(returned(item));
  });
});

const records = Array.from({ length: 20 }, (_, index) => ({ id: `o${index}` }));

it.each<[text: string, items: unknown[], message?: string]>([
  [JSON.stringify({ items: records, totalCount: 25 }), records, 'page 2 repeats items of page 1'],
  ['{"items":null,"totalCount":3}', [], 'the list ended after 0 of 3 items'],
  ['{"items":[null,7,"x"]}', [null, 7, 'x']],
])(
  'a whole list of which every page is %s: --all prints each item once, and fails if some are missing',
  async (text, items, message) => {
    const on = await stage();
    onTestFinished(() => on.close());
    on.mock.faults.add({ kind: 'reply', text, endpoint: 'env.list', times: Number.POSITIVE_INFINITY });
    const { code, out, err } = await on.rungate('env', 'list', '--all', '--json');
    const printed = out.split('\n').slice(0, -1);
    expect({ code, printed: printed.map((line) => JSON.parse(line)) }).toEqual({
      code: message ? 5 : 0,
      printed: items,
    });
    if (message !== undefined) expect(err).toContain(message);
  },
);

describe('a request', () => {
  /** Returns the names of the optional fields that the API describes in a body. */
  const optionalFields = (name: EndpointName): string[] => {
    const { body } = endpointOf(name);
    const all = body === undefined ? [] : schemaFields(body);
    return [...new Set(all.filter(({ required }) => !required).map(({ path }) => path[0] ?? ''))];
  };
  const withFields = endpoints.filter((name) => optionalFields(name).length > 0);
  const nulls = (name: EndpointName) =>
    Object.fromEntries(optionalFields(name).map((field) => [field, null]));

  it.each(withFields)('to %s may have null in each optional field, and sends it', async (name) => {
    const body = {
      ...nulls(name),
      ...(name === 'run.trigger' ? { projectSlug: 'shop', processSlug: 'checkout' } : {}),
      ...(name === 'keys.create' ? { name: 'ci' } : {}),
    };
    const { url, seen } = await serve(({ response }) => answer(response, 200, sampleResponse(name, 'value')));
    await throughLibrary(name, url, body);
    expect(JSON.parse(seen.at(-1)?.body ?? '')).toEqual(body);
    const { body: schema } = endpointOf(name);
    if (schema === undefined || !isOpen(schema)) return;
    const options = optionalFields(name).flatMap((field) => ['--json-field', `${field}=null`]);
    const env = { RUNGATE_API_URL: url, RUNGATE_TOKEN: 'token-1' };
    const { code, err } = await cli([...argvOf(name), ...options], { env });
    expect({ code, err }).toMatchObject({ code: 0 });
    expect(JSON.parse(seen.at(-1)?.body ?? '')).toMatchObject(nulls(name));
  });
});
