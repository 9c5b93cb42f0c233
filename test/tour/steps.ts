import type { EndpointName } from '../../src/contract/index.ts';
import { otherFields, type ServiceClient } from '../../src/index.ts';

/** The ids that earlier steps have created or found, by name. */
export type Ids = Record<string, string>;

/** One step of the tour: the library call, the command, and the expected request. */
export interface Step {
  name: EndpointName;
  library(client: ServiceClient, ids: Ids): Promise<unknown>;
  /** The arguments after the name of the command. */
  argv(ids: Ids): string[];
  /** The expected path parameters, query and body. */
  wire(ids: Ids): { params?: Record<string, string>; query?: Record<string, string>; body?: unknown };
  /** Stores the ids of the response that later steps need. */
  keep?(response: never, ids: Ids): void;
}

interface Item {
  id: string;
}

const project = 'shop';
const at = (ids: Ids, name: string): string => {
  const id = ids[name];
  if (id === undefined) throw new Error(`the tour has no ${name} yet`);
  return id;
};

const note = { title: 'Cart forgets the voucher', weight: 2, flags: ['cart'] };
const noteFlags = [
  '--field',
  `title=${note.title}`,
  '--json-field',
  'weight=2',
  '--json-field',
  'flags=["cart"]',
];
const observation = (ids: Ids) => ({ projectId: project, observationId: at(ids, 'observation') });
const observationArguments = (ids: Ids) => [project, at(ids, 'observation')];

/** Returns a step that changes an observation and needs no body. */
function move(
  name: EndpointName,
  made: string,
  library: Step['library'],
  body?: Record<string, string>,
): Step {
  const flags = Object.entries(body ?? {}).flatMap(([field, value]) => ['--field', `${field}=${value}`]);
  return {
    name,
    library,
    argv: (ids) => [project, at(ids, made), ...flags],
    wire: (ids) => ({
      params: { projectId: project, observationId: at(ids, made) },
      ...(body ? { body } : {}),
    }),
  };
}

/** Returns a step that creates an observation for one change, since most changes are possible only once. */
function fresh(made: string): Step {
  const body = { title: `For ${made}` };
  return {
    name: 'observations.create',
    library: (client) => client.observations.create(project, body),
    argv: () => [project, '--field', `title=${body.title}`],
    wire: () => ({ params: { projectId: project }, body }),
    keep: (response: Item, ids) => {
      ids[made] = response.id;
    },
  };
}

/** All endpoints, ordered so that each step has the ids that it needs. */
export const steps: readonly Step[] = [
  {
    name: 'orders.list',
    library: (client) => client.orders.list(),
    argv: () => [],
    wire: () => ({}),
    keep: (response: { orders: Item[] }, ids) => {
      ids.order = response.orders[0]?.id ?? '';
    },
  },
  {
    name: 'orders.get',
    library: (client, ids) => client.orders.get(at(ids, 'order')),
    argv: (ids) => [at(ids, 'order')],
    wire: (ids) => ({ params: { id: at(ids, 'order') } }),
  },
  { name: 'orders.summary', library: (client) => client.orders.summary(), argv: () => [], wire: () => ({}) },
  {
    name: 'keys.create',
    library: (client) => client.keys.create({ name: 'pipeline', scopes: ['ci:trigger', 'ci:status'] }),
    argv: () => ['--name', 'pipeline', '--scope', 'ci:trigger', '--scope', 'ci:status'],
    wire: () => ({ body: { name: 'pipeline', scopes: ['ci:trigger', 'ci:status'] } }),
    keep: (response: Item, ids) => {
      ids.key = response.id;
    },
  },
  {
    name: 'keys.delete',
    library: (client, ids) => client.keys.delete(at(ids, 'key')),
    argv: (ids) => [at(ids, 'key'), '--yes'],
    wire: (ids) => ({ params: { id: at(ids, 'key') } }),
  },
  {
    name: 'run.trigger',
    library: (client) => client.run.trigger({ projectSlug: 'shop', processSlug: 'checkout' }),
    argv: () => ['--project', 'shop', '--process', 'checkout'],
    wire: () => ({ body: { projectSlug: 'shop', processSlug: 'checkout' } }),
    keep: (response: { runId: string }, ids) => {
      ids.run = response.runId;
    },
  },
  {
    name: 'run.status',
    library: (client, ids) => client.run.status(at(ids, 'run')),
    argv: (ids) => [at(ids, 'run')],
    wire: (ids) => ({ params: { runId: at(ids, 'run') } }),
  },
  {
    name: 'run.cancel',
    library: (client, ids) => client.run.cancel(at(ids, 'run'), { reason: 'enough seen' }),
    argv: (ids) => [at(ids, 'run'), '--reason', 'enough seen'],
    wire: (ids) => ({ params: { runId: at(ids, 'run') }, body: { reason: 'enough seen' } }),
  },
  { name: 'env.overview', library: (client) => client.env.overview(), argv: () => [], wire: () => ({}) },
  {
    name: 'env.list',
    library: (client) => client.env.list({ page: 2, pageSize: 5 }),
    argv: () => ['--page', '2', '--page-size', '5'],
    wire: () => ({ query: { page: '2', pageSize: '5' } }),
  },
  {
    name: 'env.create',
    library: (client) =>
      client.env.create({
        name: 'Tour',
        key: 'tour',
        version: '2.1',
        mobileRuntimeOverrides: { deviceName: 'Pixel 9' },
        ...otherFields({ region: 'eu' }),
      }),
    argv: () => [
      ...['--name', 'Tour', '--key', 'tour', '--version', '2.1', '--device-name', 'Pixel 9'],
      ...['--field', 'region=eu'],
    ],
    wire: () => ({
      body: {
        name: 'Tour',
        key: 'tour',
        version: '2.1',
        mobileRuntimeOverrides: { deviceName: 'Pixel 9' },
        region: 'eu',
      },
    }),
    keep: (response: Item, ids) => {
      ids.env = response.id;
    },
  },
  {
    name: 'env.update',
    library: (client, ids) => client.env.update(at(ids, 'env'), { baseUrl: 'https://tour.example' }),
    argv: (ids) => [at(ids, 'env'), '--base-url', 'https://tour.example'],
    wire: (ids) => ({ params: { id: at(ids, 'env') }, body: { baseUrl: 'https://tour.example' } }),
  },
  {
    name: 'env.vars.create',
    library: (client, ids) => client.env.vars.create(at(ids, 'env'), { name: 'LOCALE', value: 'de=DE' }),
    argv: (ids) => [at(ids, 'env'), '--field', 'name=LOCALE', '--field', 'value=de=DE'],
    wire: (ids) => ({ params: { id: at(ids, 'env') }, body: { name: 'LOCALE', value: 'de=DE' } }),
    keep: (response: Item, ids) => {
      ids.variable = response.id;
    },
  },
  {
    name: 'env.vars.list',
    library: (client, ids) => client.env.vars.list(at(ids, 'env')),
    argv: (ids) => [at(ids, 'env')],
    wire: (ids) => ({ params: { id: at(ids, 'env') } }),
  },
  {
    name: 'env.vars.update',
    library: (client, ids) => client.env.vars.update(at(ids, 'env'), at(ids, 'variable'), { value: 'fr' }),
    argv: (ids) => [at(ids, 'env'), at(ids, 'variable'), '--field', 'value=fr'],
    wire: (ids) => ({ params: { envId: at(ids, 'env'), varId: at(ids, 'variable') }, body: { value: 'fr' } }),
  },
  {
    name: 'env.vars.delete',
    library: (client, ids) => client.env.vars.delete(at(ids, 'env'), at(ids, 'variable')),
    argv: (ids) => [at(ids, 'env'), at(ids, 'variable'), '-y'],
    wire: (ids) => ({ params: { envId: at(ids, 'env'), varId: at(ids, 'variable') } }),
  },
  {
    name: 'env.delete',
    library: (client, ids) => client.env.delete(at(ids, 'env')),
    argv: (ids) => [at(ids, 'env'), '--yes'],
    wire: (ids) => ({ params: { id: at(ids, 'env') } }),
  },
  {
    name: 'observations.list',
    library: (client) =>
      client.observations.list(project, { status: 'new', createdAfter: '2020-01-01T00:00:00Z', pageSize: 3 }),
    argv: () => [project, '--status', 'new', '--created-after', '2020-01-01T00:00:00Z', '--page-size', '3'],
    wire: () => ({
      params: { projectId: project },
      query: { status: 'new', createdAfter: '2020-01-01T00:00:00Z', pageSize: '3' },
    }),
  },
  {
    name: 'observations.search',
    library: (client) =>
      client.observations.search(project, { q: 'voucher & cart', ...otherFields({ limit: '5' }) }),
    argv: () => [project, 'voucher & cart', '--query', 'limit=5'],
    wire: () => ({ params: { projectId: project }, query: { q: 'voucher & cart', limit: '5' } }),
  },
  {
    name: 'observations.create',
    library: (client) => client.observations.create(project, note),
    argv: () => [project, ...noteFlags],
    wire: () => ({ params: { projectId: project }, body: note }),
    keep: (response: Item, ids) => {
      ids.observation = response.id;
    },
  },
  {
    name: 'observations.get',
    library: (client, ids) => client.observations.get(project, at(ids, 'observation')),
    argv: observationArguments,
    wire: (ids) => ({ params: observation(ids) }),
  },
  {
    name: 'observations.update',
    library: (client, ids) =>
      client.observations.update(project, at(ids, 'observation'), { title: 'Voucher lost' }),
    argv: (ids) => [...observationArguments(ids), '--field', 'title=Voucher lost'],
    wire: (ids) => ({ params: observation(ids), body: { title: 'Voucher lost' } }),
  },
  {
    name: 'observations.attach',
    library: (client, ids) =>
      client.observations.attach(project, at(ids, 'observation'), { note: 'see log' }),
    argv: (ids) => [...observationArguments(ids), '--field', 'note=see log'],
    wire: (ids) => ({ params: observation(ids), body: { note: 'see log' } }),
  },
  move('observations.confirm', 'observation', (client, ids) =>
    client.observations.confirm(project, at(ids, 'observation')),
  ),
  fresh('archived'),
  move('observations.archive', 'archived', (client, ids) =>
    client.observations.archive(project, at(ids, 'archived')),
  ),
  fresh('superseded'),
  move(
    'observations.supersede',
    'superseded',
    (client, ids) => client.observations.supersede(project, at(ids, 'superseded'), { reason: 'newer' }),
    { reason: 'newer' },
  ),
  move('observations.promoteToTicket', 'observation', (client, ids) =>
    client.observations.promoteToTicket(project, at(ids, 'observation')),
  ),
  fresh('known'),
  {
    name: 'observations.confirm',
    library: (client, ids) => client.observations.confirm(project, at(ids, 'known')),
    argv: (ids) => [project, at(ids, 'known')],
    wire: (ids) => ({ params: { projectId: project, observationId: at(ids, 'known') } }),
  },
  move('observations.promoteToWiki', 'known', (client, ids) =>
    client.observations.promoteToWiki(project, at(ids, 'known')),
  ),
  {
    name: 'webhooks.eventTypes',
    library: (client) => client.webhooks.eventTypes(),
    argv: () => [],
    wire: () => ({}),
  },
  {
    name: 'webhooks.list',
    library: (client) => client.webhooks.list({ projectId: project, includeGlobal: false, page: 1 }),
    argv: () => ['--project-id', project, '--no-include-global', '--page', '1'],
    wire: () => ({ query: { projectId: project, includeGlobal: 'false', page: '1' } }),
  },
  {
    name: 'webhooks.create',
    library: (client) =>
      client.webhooks.create({ projectId: project, ...otherFields({ url: 'https://hooks.example/a' }) }),
    argv: () => ['--project-id', project, '--field', 'url=https://hooks.example/a'],
    wire: () => ({ body: { projectId: project, url: 'https://hooks.example/a' } }),
    keep: (response: Item, ids) => {
      ids.webhook = response.id;
    },
  },
  {
    name: 'webhooks.rotateSecret',
    library: (client, ids) => client.webhooks.rotateSecret(at(ids, 'webhook')),
    argv: (ids) => [at(ids, 'webhook'), '--yes'],
    wire: (ids) => ({ params: { id: at(ids, 'webhook') } }),
  },
  {
    name: 'webhooks.test',
    library: (client, ids) => client.webhooks.test(at(ids, 'webhook')),
    argv: (ids) => [at(ids, 'webhook')],
    wire: (ids) => ({ params: { id: at(ids, 'webhook') } }),
  },
  {
    name: 'webhooks.deliveries.list',
    library: (client, ids) => client.webhooks.deliveries.list(at(ids, 'webhook')),
    argv: (ids) => [at(ids, 'webhook')],
    wire: (ids) => ({ params: { id: at(ids, 'webhook') } }),
    keep: (response: { items: Item[] } | Item[], ids) => {
      const items = Array.isArray(response) ? response : response.items;
      ids.delivery = items[0]?.id ?? '';
    },
  },
  {
    name: 'webhooks.deliveries.get',
    library: (client, ids) => client.webhooks.deliveries.get(at(ids, 'webhook'), at(ids, 'delivery')),
    argv: (ids) => [at(ids, 'webhook'), at(ids, 'delivery')],
    wire: (ids) => ({ params: { id: at(ids, 'webhook'), deliveryId: at(ids, 'delivery') } }),
  },
  {
    name: 'webhooks.deliveries.retry',
    library: (client, ids) => client.webhooks.deliveries.retry(at(ids, 'webhook'), at(ids, 'delivery')),
    argv: (ids) => [at(ids, 'webhook'), at(ids, 'delivery')],
    wire: (ids) => ({ params: { id: at(ids, 'webhook'), deliveryId: at(ids, 'delivery') } }),
  },
  {
    name: 'webhooks.delete',
    library: (client, ids) => client.webhooks.delete(at(ids, 'webhook')),
    argv: (ids) => [at(ids, 'webhook'), '--yes'],
    wire: (ids) => ({ params: { id: at(ids, 'webhook') } }),
  },
];
